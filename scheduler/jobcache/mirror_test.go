package jobcache

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
)

var (
	errGone   = errors.New("gone")
	errBroken = errors.New("broken")
)

// bucket is a store as other processes leave it, and a watch that tells of it when the test lets it.
type bucket struct {
	mu     sync.Mutex
	values map[string]string // "revision value"
	loads  int
	within func() // called while a value is read

	tell     chan func(ready func(), changed func(string, uint64, []byte)) // nil: the watch is lost
	watches  int
	watching int
	most     int // watches at a time
}

func newBucket() *bucket {
	return &bucket{values: map[string]string{}, tell: make(chan func(func(), func(string, uint64, []byte)))}
}

// stored is a value with its revision.
type stored struct {
	revision uint64
	text     string
}

func parse(s string) (v stored, err error) {
	_, err = fmt.Sscanf(s, "%d %s", &v.revision, &v.text)
	return v, err
}

func (b *bucket) load(_ context.Context, key string) (stored, error) {
	b.mu.Lock()
	b.loads++
	s, ok := b.values[key]
	within := b.within
	b.mu.Unlock()
	if within != nil {
		within()
	}
	if !ok {
		return stored{}, errGone
	}
	return parse(s)
}

func (b *bucket) watch(ctx context.Context, ready func(), changed func(string, uint64, []byte)) error {
	b.mu.Lock()
	b.watches++
	b.watching++
	b.most = max(b.most, b.watching)
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		b.watching--
		b.mu.Unlock()
	}()
	for {
		select {
		case f := <-b.tell:
			if f == nil {
				return errBroken
			}
			f(ready, changed)
		case <-ctx.Done():
			return nil
		}
	}
}

// tells lets the watch tell of values, "key revision value" each without a value for a deleted one, and of "ready".
func (b *bucket) tells(what ...string) {
	b.tell <- func(ready func(), changed func(string, uint64, []byte)) {
		for _, w := range what {
			if w == "ready" {
				ready()
				continue
			}
			var key, value string
			var revision uint64
			_, _ = fmt.Sscanf(w, "%s %d %s", &key, &revision, &value)
			if value == "" {
				changed(key, revision, nil)
			} else {
				changed(key, revision, []byte(value))
			}
		}
	}
	synctest.Wait()
}

// breaks loses the watch.
func (b *bucket) breaks() {
	b.tell <- nil
	synctest.Wait()
}

func decode(_ string, revision uint64, data []byte) (stored, error) {
	if strings.HasPrefix(string(data), "?") {
		return stored{}, errBroken
	}
	return stored{revision, string(data)}, nil
}

// full returns a mirror whose watch tells values.
func (b *bucket) full(retain bool) *Mirror[string, stored] {
	return New(Config[string, stored]{Watch: b.watch, Load: b.load, Decode: decode, Retain: retain})
}

// part returns a mirror whose watch tells of changes only.
func (b *bucket) part() *Mirror[string, stored] {
	return New(Config[string, stored]{
		Watch: b.watch, Load: b.load, Limit: 8, Shards: 64,
		Revision: func(v stored) uint64 { return v.revision },
	})
}

// want checks what a mirror has for a, and whether it reads it: "" is none.
func (b *bucket) want(t *testing.T, m *Mirror[string, stored], atLeast uint64, want string, reads bool) {
	t.Helper()
	before := b.loads
	v, err := m.Current(t.Context(), "a", atLeast)
	got := v.text
	if got != want || (err == nil) != (want != "") || err != nil && !errors.Is(err, errGone) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if (b.loads > before) != reads {
		t.Errorf("%q: %d reads", got, b.loads-before)
	}
}

// run runs a mirror in a bubble until the returned function is called.
func run(t *testing.T, m *Mirror[string, stored]) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		m.Run(ctx, func(err error) {
			if !errors.Is(err, errBroken) {
				t.Errorf("lost: %v", err)
			}
		})
	}()
	synctest.Wait()
	return func() {
		cancel()
		<-ended
	}
}

// TestDeletedUnseen shows that a value which was deleted while the watch was broken is not known any more, and that
// what is known is told meanwhile, if that is asked for.
func TestDeletedUnseen(t *testing.T) {
	for _, retain := range []bool{true, false} {
		bubble.Test(t, func(t *testing.T) {
			b := newBucket()
			m := b.full(retain)
			defer run(t, m)()
			known := func() (n, live int) {
				for _, key := range []string{"a", "b"} {
					if _, ok := m.Known(key); ok {
						n++
					}
					if _, ok := m.Peek(key); ok {
						live++
					}
				}
				return n, live
			}
			b.tells("a 1 x", "b 2 x", "ready")
			if n, live := known(); n != 2 || live != 2 {
				t.Errorf("at first %d are known, %d live", n, live)
			}
			without := 0
			if retain {
				without = 2
			}
			b.breaks()
			if n, live := known(); n != without || live != 0 {
				t.Errorf("without a watch %d are known, %d live", n, live)
			}
			time.Sleep(time.Second + time.Millisecond)
			synctest.Wait()
			if b.watching != 1 {
				t.Fatal("there is no watch after a second")
			}
			b.tells("a 1 x")
			if n, live := known(); n != max(1, without) || live != 0 {
				t.Errorf("before the watch stands %d are known, %d live", n, live)
			}
			b.tells("ready")
			if n, live := known(); n != 1 || live != 1 {
				t.Errorf("in the end %d are known, %d live", n, live)
			}
		})
	}
}

// TestBeforeTheWatchStands shows that what a watch tells first is believed when it has told everything: until then it
// may speak of what others have changed since.
func TestBeforeTheWatchStands(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := newBucket()
		m := b.full(false)
		defer run(t, m)()
		b.values["a"] = "2 new"
		b.tells("a 1 old")
		b.want(t, m, 0, "new", true)
		b.tells("a 2 new", "ready")
		delete(b.values, "a") // so that only the watch can know it
		b.want(t, m, 0, "new", false)
	})
}

// TestWithoutWatch shows that what this process has noted while there was no watch is not believed when there is one
// again: others may have deleted it meanwhile.
func TestWithoutWatch(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := newBucket()
		m := b.full(false)
		m.Note("a", 1, []byte("old"))
		defer run(t, m)()
		b.tells("ready")
		b.want(t, m, 0, "", true)
		m.Note("a", 2, []byte("again"))
		b.want(t, m, 0, "again", false)
		b.tells("a 1 old")
		b.want(t, m, 0, "again", false)
		m.Note("a", 3, nil)
		b.tells("a 2 again")
		b.want(t, m, 0, "", true)
		m.Note("a", 4, []byte("once more"))
		b.breaks()
		b.want(t, m, 0, "", true)
	})
}

// TestUndecodable shows that a value that cannot be decoded is read when it is needed.
func TestUndecodable(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := newBucket()
		m := b.full(true)
		defer run(t, m)()
		b.values["a"] = "2 read"
		b.tells("a 1 x", "ready", "a 2 ?")
		if v, ok := m.Known("a"); ok {
			t.Errorf("known as %v", v)
		}
		b.want(t, m, 0, "read", true)
		b.want(t, m, 0, "read", true) // the watch alone fills such a mirror
	})
}

// TestReadThrough shows what is read, and what is kept of it.
func TestReadThrough(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := newBucket()
		m := b.part()
		b.values["a"] = "1 x"
		b.want(t, m, 0, "x", true)
		defer run(t, m)()
		b.want(t, m, 0, "x", true) // it does not stand yet
		b.tells("ready")
		b.want(t, m, 0, "x", true)
		b.want(t, m, 1, "x", false)
		b.values["a"] = "2 y"
		b.want(t, m, 1, "x", false) // the watch has not told of it yet
		b.want(t, m, 2, "y", true)
		b.tells("a 2")
		b.want(t, m, 2, "y", false)
		before := m.Changes("a")
		if !m.Unchanged("a", before) {
			t.Error("changed")
		}
		b.tells("a 3")
		if m.Unchanged("a", before) {
			t.Error("unchanged")
		}
		delete(b.values, "a")
		b.want(t, m, 0, "", true)
		b.values["a"] = "4 z"
		b.want(t, m, 0, "z", true)
		m.Forget("a")
		b.want(t, m, 0, "z", true)
		b.breaks()
		b.want(t, m, 0, "z", true)
		b.want(t, m, 0, "z", true)
	})
}

// TestChangedWhileRead shows that nothing is kept that changed, or may have, while it was read.
func TestChangedWhileRead(t *testing.T) {
	for name, within := range map[string]func(*bucket){
		"a change":             func(b *bucket) { b.tells("a 2") },
		"the loss of a watch":  (*bucket).breaks,
		"the loss and another": func(b *bucket) { b.breaks(); time.Sleep(2 * time.Second); b.tells("ready") },
	} {
		bubble.Test(t, func(t *testing.T) {
			b := newBucket()
			m := b.part()
			defer run(t, m)()
			b.tells("ready")
			b.values["a"] = "1 x"
			b.within = func() { b.within = nil; within(b) }
			b.want(t, m, 0, "x", true)
			b.values["a"] = "2 y"
			if v, ok := m.Peek("a"); ok {
				t.Errorf("%s: %v is kept", name, v)
			}
			b.want(t, m, 0, "y", true)
		})
	}
}

// TestLaggingReplica has a replica of the store answer that does not know yet what the watch has told of, or what is
// asked for.
func TestLaggingReplica(t *testing.T) {
	for name, test := range map[string]struct {
		behind  int // reads until it knows
		told    string
		atLeast uint64
		want    string
		kept    bool
		took    time.Duration
	}{
		"it does not lag":                  {0, "a 2", 0, "y", true, 0},
		"behind what was told":             {2, "a 2", 0, "y", true, 30 * time.Millisecond},
		"behind what is asked for":         {2, "b 2", 2, "y", true, 30 * time.Millisecond},
		"for ever behind what was told":    {99, "a 2", 0, "x", false, 150 * time.Millisecond},
		"a store that was brought back":    {99, "b 2", 2, "x", true, 150 * time.Millisecond},
		"another key, and nothing to know": {99, "b 2", 0, "x", true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				b := newBucket()
				m := b.part()
				defer run(t, m)()
				b.tells("ready", test.told)
				b.values["a"] = "1 x"
				if test.behind == 0 {
					b.values["a"] = "2 y"
				}
				b.within = func() {
					if b.loads >= test.behind { // the next one knows
						b.values["a"] = "2 y"
					}
				}
				began := time.Now()
				b.want(t, m, test.atLeast, test.want, true)
				if took := time.Since(began); took != test.took {
					t.Errorf("it took %s, want %s", took, test.took)
				}
				b.within = nil
				if _, ok := m.Peek("a"); ok != test.kept {
					t.Errorf("kept: %t", ok)
				}
			})
		})
	}
}

// TestKeepMany shows that what was read in one request is kept as if it had been read alone.
func TestKeepMany(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := newBucket()
		m := b.part()
		defer run(t, m)()
		b.tells("ready")
		before := m.Changes("a")
		b.tells("a 2")
		m.Keep("a", stored{1, "x"}, before)
		if v, ok := m.Peek("a"); ok {
			t.Errorf("%v is kept", v)
		}
		m.Keep("a", stored{2, "y"}, m.Changes("a"))
		if v, ok := m.Peek("a"); !ok || v.text != "y" {
			t.Errorf("got %v, %t", v, ok)
		}
	})
}

// TestRunners shows that one of several runners watches, and that another takes over when it ends.
func TestRunners(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := newBucket()
		m := b.full(false)
		stopFirst, stopSecond := run(t, m), run(t, m)
		third := run(t, m)
		b.tells("a 1 x", "ready")
		b.want(t, m, 0, "x", false)
		stopSecond() // it was not its turn
		if b.watches != 1 {
			t.Errorf("%d watches", b.watches)
		}
		b.want(t, m, 0, "x", false)
		stopFirst()
		synctest.Wait()
		b.want(t, m, 0, "", true) // what was known went with its watch
		if b.watches != 2 || b.watching != 1 {
			t.Errorf("%d watches, %d at present", b.watches, b.watching)
		}
		b.tells("a 2 y", "ready")
		b.want(t, m, 0, "y", false)
		third()
		b.want(t, m, 0, "", true)
		defer run(t, m)()
		b.tells("a 3 z", "ready")
		b.want(t, m, 0, "z", false)
		if b.watches != 3 || b.most != 1 {
			t.Errorf("%d watches, %d at a time", b.watches, b.most)
		}
	})
}

// TestLostIsToldOnce shows that a watch that fails again and again for one reason is told once, and again when it stood
// between.
func TestLostIsToldOnce(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b, told := newBucket(), 0
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			b.full(false).Run(ctx, func(error) { told++ })
		}()
		for i, want := range []int{1, 1, 1, 2, 2} {
			if i == 3 {
				b.tells("ready")
			}
			b.breaks()
			if told != want {
				t.Errorf("loss %d: told %d times, want %d", i, told, want)
			}
		}
		cancel()
		<-ended
	})
}

// TestTakeoverWithoutWatch shows that a runner takes over at once from one whose watch is lost.
func TestTakeoverWithoutWatch(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := newBucket()
		m := b.full(false)
		stop, second := run(t, m), run(t, m)
		defer second()
		b.breaks()
		if b.watching != 0 || b.watches != 1 {
			t.Errorf("%d watches, %d at present", b.watches, b.watching)
		}
		stop()
		synctest.Wait()
		if b.watching != 1 || b.watches != 2 {
			t.Errorf("%d watches, %d at present", b.watches, b.watching)
		}
	})
}
