package natsmsg_test

import (
	"testing"

	"github.com/nats-io/nats-server/v2/server/ats"
	"go.uber.org/goleak"
)

// TestMain checks that no test left a goroutine behind. The server's access-time ticker lives on.
func TestMain(m *testing.M) {
	ats.Register()
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent())
}
