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
	"strings"
	"sync"
	"testing"
	"time"
)

// The clock of a host cannot be set for one process. So carillon is built with a time.Now that adds as many nanoseconds as the
// file next to the program holds, and nothing to the monotonic clock: what the program sees on a host whose clock is wrong, or
// makes a step. Nothing else of it is changed.
const steppedProgram = "carillon-stepped"

// steppedAs is the program of the i-th scheduler, which has a clock of its own.
func steppedAs(i int) string { return fmt.Sprintf("%s-%d", steppedProgram, i) }

// timeSteps is next to time.Now in the package of the standard library.
const timeSteps = `package time

import (
	"sync/atomic"
	"syscall"
	"unsafe"
)

var step *int64

func init() {
	name := make([]byte, 4096)
	n, err := syscall.Readlink("/proc/self/exe", name)
	if err != nil {
		panic(err)
	}
	fd, err := syscall.Open(string(name[:n])+".clock", syscall.O_RDONLY, 0)
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
	built := filepath.Join(dir, "carillon")
	cmd := exec.Command("go", "build", "-overlay", file, "-o", built, "./cmd/carillon")
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	for i := range len(cluster{}.schedulers) {
		if err := os.Link(built, filepath.Join(binaries.dir, steppedAs(i))); err != nil {
			return err
		}
	}
	return nil
}

// setClock sets the clock of the i-th scheduler's host ahead of the real one.
func setClock(i int, ahead time.Duration) error {
	f, err := os.OpenFile(filepath.Join(binaries.dir, steppedAs(i)+".clock"), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteAt(binary.NativeEndian.AppendUint64(nil, uint64(ahead)), 0)
	return err
}

// skewed returns how far ahead the clock of the i-th scheduler's host is: the first by -skew, and the second by that behind.
func skewed(i int) time.Duration { return []time.Duration{*skewFlag, -*skewFlag, 0}[i] }

// skewClocks builds the program whose clock can be set, and sets the clocks of the schedulers' hosts.
func skewClocks(t *testing.T) {
	t.Helper()
	program(t, "carillon")
	if err := steppedBuild(); err != nil {
		t.Fatal(err)
	}
	for i := range len(cluster{}.schedulers) {
		if err := setClock(i, skewed(i)); err != nil {
			t.Fatal(err)
		}
	}
}

// steps sets the clock of the first scheduler's host again and again, and back in the end.
func steps(ctx context.Context, c *cluster, all ...time.Duration) {
	c.t.Helper()
	for _, ahead := range append(all, 0) {
		if err := setClock(0, skewed(0)+ahead); err != nil {
			c.t.Fatal(err)
		}
		if ahead != 0 {
			pause(ctx, stepped)
		}
	}
}
