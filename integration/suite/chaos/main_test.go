package chaos

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

var seedFlag = flag.Uint64("seed", 0, "seed of the faults; 0 draws one")

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		fmt.Println("skipped by -short: run go test ./integration/suite/chaos")
		return
	}
	_ = flag.Set("test.parallel", "3") // those tests wait most of the time
	code := m.Run()
	if dir, err := binaries(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// binaries is the folder of the programs under test, each of which is built once, by the first test that needs it.
var (
	binaries = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "carillon-chaos-") })

	builds = map[string]func() error{
		"carillon":     sync.OnceValue(func() error { return build("carillon", "./cmd/carillon") }),
		"nats-server":  sync.OnceValue(func() error { return build("nats-server", "github.com/nats-io/nats-server/v2") }),
		steppedProgram: sync.OnceValue(buildStepped),
	}
)

// program returns the path of a program. It is built without the race detector, however the tests are: it would only make it
// slow.
func program(t *testing.T, name string) string {
	t.Helper()
	readTree(t)
	must.Do(t, builds[name]())
	dir, _ := binaries()
	return filepath.Join(dir, name)
}

// build builds a program of the module, or of one that it requires.
func build(name, path string, flags ...string) error {
	dir, err := binaries()
	if err != nil {
		return err
	}
	cmd := exec.Command("go", append(append([]string{"build", "-ldflags=-s -w", "-o", filepath.Join(dir, name)}, flags...), path)...)
	cmd.Dir = filepath.Join("..", "..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// readTree reads the module's folders. The go command reuses a test's result while the files that the test itself has
// looked at are unchanged, and does not know what a child process reads.
func readTree(t *testing.T) {
	t.Helper()
	root := filepath.Join("..", "..", "..")
	must.Do(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if entry.IsDir() && (path != root && strings.HasPrefix(entry.Name(), ".") || err != nil) {
			return fs.SkipDir
		}
		return nil
	}))
}

// chance returns the random numbers of a test.
func chance(t *testing.T) *rand.Rand {
	t.Helper()
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("repeat the faults with -seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// size returns n, or few with -short, and under the race detector without -full: the processes that are killed have none.
func size(n, few int) int {
	if testing.Short() || bubble.RaceDetector && !*fullFlag {
		return few
	}
	return n
}

// lastBreath is how long before the end of all tests a test gives up, so that it can end its processes and say what it
// waited for.
const lastBreath = 10 * time.Second

// limited returns a context that ends with the test, or a moment before the test's time is up.
func limited(t *testing.T) context.Context {
	t.Helper()
	end, ok := t.Deadline()
	if !ok {
		return t.Context()
	}
	ctx, cancel := context.WithDeadline(t.Context(), end.Add(-lastBreath))
	t.Cleanup(cancel)
	return ctx
}

// stillness adds up the times in which this process, and so most likely the whole machine, stood still. Nothing can be on
// time then; what is said about lateness holds for the rest.
type stillness struct{ total atomic.Int64 }

// The rhythm in which a stillness is looked for, and the shortest one that counts.
const (
	beat    = 20 * time.Millisecond
	longest = 250 * time.Millisecond // gap between two beats of a machine that is only busy
)

func watchStillness(t *testing.T) *stillness {
	t.Helper()
	s := &stillness{}
	ctx := t.Context()
	go func() {
		tick := time.NewTicker(beat)
		defer tick.Stop()
		for last := time.Now(); ctx.Err() == nil; {
			<-tick.C
			now := time.Now()
			if gap := now.Sub(last); gap > longest {
				s.total.Add(int64(gap))
			}
			last = now
		}
	}()
	t.Cleanup(func() {
		if d := s.sum(); d > 0 {
			t.Logf("the machine stood still for %s, which is left out of what is allowed to be late", d.Round(time.Millisecond))
		}
	})
	return s
}

func (s *stillness) sum() time.Duration { return time.Duration(s.total.Load()) }

// crowded is how much later what is promised in seconds may be than it says: nothing with -full, which is for a machine that
// does nothing else, and a while where other tests run beside.
func crowded() time.Duration {
	if *fullFlag {
		return 0
	}
	return 10 * time.Second
}

// await waits until something has happened, and ends the test when it has not within limit.
func await(ctx context.Context, t *testing.T, what string, limit time.Duration, happened func() bool) {
	t.Helper()
	if !within(ctx, limit, happened) {
		t.Fatalf("%s: not within %s", what, limit)
	}
}

// The pauses between two looks of [within].
const (
	shortestPause = 10 * time.Millisecond
	longestPause  = 250 * time.Millisecond
	idleShare     = 4 // a pause lasts so many times as long as a look
)

// within reports whether something happens within limit. It looks every 10 ms, but for at most a fifth of the time: a look
// that asks servers, or walks through a history, costs the system under test its processors.
func within(ctx context.Context, limit time.Duration, happened func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		began := time.Now()
		if happened() {
			return true
		}
		pause(ctx, min(max(idleShare*time.Since(began), shortestPause), longestPause))
		if ctx.Err() != nil {
			return happened()
		}
	}
}

// pause waits for d, or until ctx is done.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
