package emulatortest_test

import (
	"testing"

	"github.com/carillon-sched/carillon/integration/emulator/internal/leak"
)

// TestMain checks that no goroutine is left, of an emulator or a client.
func TestMain(m *testing.M) { leak.Main(m) }
