package storagequeue_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain checks that no goroutine is left, of a connection or an emulator.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
