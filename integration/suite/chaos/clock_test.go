package chaos

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// The clock of a host cannot be set for one process. So carillon is built with a time.Now that adds as many nanoseconds as a
// file holds, which the environment names, and nothing to the monotonic clock: what the program sees on a host whose clock is
// wrong, or makes a step. Nothing else of it is changed. To build it costs minutes, as everything depends on package time.
const (
	steppedProgram = "carillon-stepped"
	clockVariable  = "CARILLON_CHAOS_CLOCK"
)

// timeSteps is next to time.Now in the package of the standard library.
const timeSteps = `package time

import (
	"sync/atomic"
	"syscall"
	"unsafe"
)

var step *int64

func init() {
	name, _ := syscall.Getenv("` + clockVariable + `")
	fd, err := syscall.Open(name, syscall.O_RDONLY, 0)
	if err != nil {
		panic(err)
	}
	page, err := syscall.Mmap(fd, 0, 8, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	step = (*int64)(unsafe.Pointer(&page[0]))
}

func steppedNow() (sec int64, nsec int32, mono int64) {
	sec, nsec, mono = runtimeNow()
	if step != nil {
		n := sec*1e9 + int64(nsec) + atomic.LoadInt64(step)
		sec, nsec = n/1e9, int32(n%1e9)
	}
	return sec, nsec, mono
}
`

// buildStepped builds carillon with a clock that makes steps.
func buildStepped() error {
	dir, err := binaries()
	if err != nil {
		return err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output() // what is built with -trimpath does not know it
	if err != nil {
		return err
	}
	source := filepath.Join(strings.TrimSpace(string(root)), "src", "time", "time.go")
	data, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	const reads = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()"
	if !strings.Contains(string(data), reads) {
		return fmt.Errorf("%s: time.Now is not what it was", source)
	}
	changed := strings.Replace(string(data), reads, strings.Replace(reads, "runtimeNow", "steppedNow", 1), 1)
	overlay := map[string]map[string]string{"Replace": {}}
	for path, text := range map[string]string{source: changed, filepath.Join(filepath.Dir(source), "steps.go"): timeSteps} {
		replacement := filepath.Join(dir, filepath.Base(path))
		overlay["Replace"][path] = replacement
		if err := os.WriteFile(replacement, []byte(text), 0o600); err != nil {
			return err
		}
	}
	list, err := json.Marshal(overlay)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, list, 0o600); err != nil {
		return err
	}
	return build(steppedProgram, "./cmd/carillon", "-overlay", file)
}

// clockFile is the clock of a scheduler's host: a file that takes how far ahead of the real one it is; "" is the real one.
type clockFile string

func newClock(t *testing.T, ahead time.Duration) clockFile {
	t.Helper()
	c := clockFile(filepath.Join(t.TempDir(), "clock"))
	c.set(t, ahead)
	return c
}

func (c clockFile) set(t *testing.T, ahead time.Duration) {
	t.Helper()
	f := must.Get(os.OpenFile(string(c), os.O_CREATE|os.O_WRONLY, 0o600))(t)
	defer f.Close()
	must.Get(f.WriteAt(binary.NativeEndian.AppendUint64(nil, uint64(ahead)), 0))(t)
}
