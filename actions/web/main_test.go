package web_test

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"os"
	"runtime/pprof"
	"testing"
	"time"
)

// discardLog is for servers that are meant to have trouble.
var discardLog = log.New(io.Discard, "", 0)

// TestMain checks that no test left a goroutine of a connection behind.
func TestMain(m *testing.M) {
	code := m.Run()
	if stacks := leaked(5 * time.Second); code == 0 && stacks != nil {
		fmt.Fprintf(os.Stderr, "goroutines left:\n%s", stacks)
		code = 1
	}
	os.Exit(code)
}

// leaked returns the stacks of all goroutines if one of net/http is among them
// after the given time.
func leaked(patience time.Duration) []byte {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for start := time.Now(); ; <-tick.C {
		var stacks bytes.Buffer
		_ = pprof.Lookup("goroutine").WriteTo(&stacks, 2)
		if !bytes.Contains(stacks.Bytes(), []byte("net/http.")) && !bytes.Contains(stacks.Bytes(), []byte("actions/web.")) {
			return nil
		}
		if time.Since(start) > patience {
			return stacks.Bytes()
		}
	}
}
