package natsmsg_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/nats-io/nats-server/v2/server/ats"
	"go.uber.org/goleak"
)

// TestMain checks that no test left a goroutine behind. The server's access-time ticker lives on.
func TestMain(m *testing.M) {
	ats.Register()
	before := goleak.IgnoreCurrent()
	code := m.Run()
	if err := goleak.Find(before); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
