package backup_test

import (
	"os"
	"testing"

	"github.com/nats-io/nats-server/v2/server/ats"
)

// TestMain starts the server's access-time ticker outside every bubble: a
// goroutine that waits on it inside one would keep fake time from passing.
func TestMain(m *testing.M) {
	ats.Register()
	os.Exit(m.Run())
}
