package servicebus_test

import (
	"os"
	"testing"

	"github.com/carillon-sched/carillon/integration/emulator/internal/leak"
)

// TestMain checks that no goroutine is left, of an emulator or a client.
func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }
