//go:build linux

package chaos

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// The clock of a host cannot be stepped for one process. So carillon is built with a time.Now that adds to what the system
// says as many nanoseconds as a file in memory holds, and nothing to the time that has passed: what the program sees on a
// host whose clock makes a step. Nothing else of it is changed.
const (
	steppedProgram = "carillon-stepped"
	clockFile      = "clock"
)

// timeSteps is beside time.Now in the package of the standard library.
const timeSteps = `package time

import (
	"sync/atomic"
	"syscall"
	"unsafe"
)

var stepFile string // by the linker

var step *int64

func init() {
	fd, err := syscall.Open(stepFile, syscall.O_RDONLY, 0)
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

var steppedBuild = sync.OnceValue(buildStepped)

// buildStepped builds carillon with a clock that makes steps.
func buildStepped() error {
	source := filepath.Join(runtime.GOROOT(), "src", "time", "time.go") //nolint:staticcheck // of the go command that builds the test
	data, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	const reads = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()"
	if !strings.Contains(string(data), reads) {
		return fmt.Errorf("%s: time.Now is not what it was", source)
	}
	dir := filepath.Join(binaries.dir, "stepped")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	changed := strings.Replace(string(data), reads, strings.Replace(reads, "runtimeNow", "steppedNow", 1), 1)
	files := map[string]string{source: changed, filepath.Join(filepath.Dir(source), "steps.go"): timeSteps}
	overlay := map[string]map[string]string{"Replace": {}}
	for path, text := range files {
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
	if err := setClock(0); err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-overlay", file, "-ldflags", "-X time.stepFile="+filepath.Join(binaries.dir, clockFile),
		"-o", filepath.Join(binaries.dir, steppedProgram), "./cmd/carillon")
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// setClock sets the clock of the host of all programs that were built like that ahead of the real one.
func setClock(ahead time.Duration) error {
	f, err := os.OpenFile(filepath.Join(binaries.dir, clockFile), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteAt(binary.NativeEndian.AppendUint64(nil, uint64(ahead)), 0)
	return err
}

// needsSteps builds the program, and sets its clock right.
func needsSteps(t *testing.T) string {
	t.Helper()
	program(t, "carillon")
	if err := steppedBuild(); err != nil {
		t.Fatal(err)
	}
	if err := setClock(0); err != nil {
		t.Fatal(err)
	}
	return ""
}

// steps sets the clock of the first scheduler's host again and again, and right in the end.
func steps(ctx context.Context, c *cluster, all ...time.Duration) {
	c.t.Helper()
	for _, ahead := range append(all, 0) {
		if err := setClock(ahead); err != nil {
			c.t.Fatal(err)
		}
		if ahead != 0 {
			pause(ctx, stepped)
		}
	}
}
