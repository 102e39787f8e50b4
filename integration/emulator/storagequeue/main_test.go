package storagequeue_test

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"os"
	"runtime/pprof"
	"testing"

	"go.uber.org/goleak"
)

// child makes the test binary an emulator that is to be killed.
var child = flag.String("child", "", "data folder of an emulator to run instead of the tests")

// TestMain checks that no test left a goroutine of an emulator behind.
func TestMain(m *testing.M) {
	flag.Parse()
	if *child != "" {
		os.Exit(serveUntilKilled(*child))
	}
	code := m.Run()
	http.DefaultClient.CloseIdleConnections()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func goroutines() []byte {
	var stacks bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&stacks, 2)
	return stacks.Bytes()
}
