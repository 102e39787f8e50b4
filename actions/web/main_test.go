package web_test

import (
	"io"
	"log"
	"testing"

	"go.uber.org/goleak"
)

// discardLog is for servers that are meant to have trouble.
var discardLog = log.New(io.Discard, "", 0)

// TestMain checks that no test left a goroutine of a connection behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
