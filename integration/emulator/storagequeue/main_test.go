package storagequeue_test

import (
	"bytes"
	"flag"
	"os"
	"runtime/pprof"
	"testing"

	"github.com/carillon-sched/carillon/integration/emulator/internal/leak"
)

// child makes the test binary an emulator that is to be killed.
var child = flag.String("child", "", "data folder of an emulator to run instead of the tests")

// TestMain checks that no test left a goroutine of an emulator behind.
func TestMain(m *testing.M) {
	flag.Parse()
	if *child != "" {
		os.Exit(serveUntilKilled(*child))
	}
	os.Exit(leak.Run(m))
}

func goroutines() []byte {
	var stacks bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&stacks, 2)
	return stacks.Bytes()
}
