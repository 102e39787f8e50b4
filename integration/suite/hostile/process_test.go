package hostile

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/dev"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// process is a running `carillon dev`.
type process struct{ *dev.Process }

// start builds the program, without the race detector, and runs it.
func start(t *testing.T) process {
	t.Helper()
	dir := t.TempDir()
	program := must.Get(dev.Build(t.Context(), filepath.Join("..", "..", ".."), dir))(t)
	p := must.Get(dev.Start(t.Context(), program, dir, "--log-format", "text"))(t)
	t.Cleanup(p.Kill)
	return process{p}
}

// await polls until ok.
func (p process) await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	if err := p.Await(t.Context(), ok); err != nil {
		t.Fatalf("waited in vain for %s: %v\n%s", what, err, p.Log())
	}
}

// mustRun fails the test when the process has ended.
func (p process) mustRun(t *testing.T) {
	t.Helper()
	if !p.Running() {
		t.Fatalf("the process ended\n%s", p.Log())
	}
}

// stop ends it as an operator does.
func (p process) stop(t *testing.T) {
	t.Helper()
	if err := p.Stop(); err != nil {
		t.Errorf("it ended with %v\n%s", err, p.Log())
	}
}

// memory is what the process has resident, in bytes; 0 where the system does not tell.
func (p process) memory() int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.ID()))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kb << 10
		}
	}
	return 0
}
