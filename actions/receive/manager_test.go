package receive_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-sched/carillon/actions/receive"
	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/secrets"
	"github.com/carillon-sched/carillon/scheduler/source"
)

// fake is a receiver and a bucket of sources. Its receiver fails after the durations in lasts, in order, and then lasts.
type fake struct {
	mu        sync.Mutex
	lasts     []time.Duration
	panics    bool
	began     []time.Time
	running   int
	forgotten []string

	watches chan func(ready func(), changed func(string, uint64, []byte)) error
}

func (*fake) SourceTypes() []source.Type { return []source.Type{source.TypeNATS} }

func (f *fake) Receive(ctx context.Context, feed *receive.Feed) error {
	f.mu.Lock()
	feed.Lag(int64(len(f.lasts)) - 1) // unknown in the end
	f.began = append(f.began, time.Now())
	f.running++
	last := time.Duration(-1)
	if len(f.lasts) > 0 {
		last, f.lasts = f.lasts[0], f.lasts[1:]
	}
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.running--
		f.mu.Unlock()
	}()
	if last < 0 {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	time.Sleep(last)
	if f.panics {
		panic("oops")
	}
	return errors.New("broken")
}

func (f *fake) Forget(_ context.Context, s *source.Source) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forgotten = append(f.forgotten, s.Key.Job+" "+s.UID)
	return nil
}

// state returns the number of running receivers, of their starts, and the sources that are forgotten.
func (f *fake) state() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return fmt.Sprint(f.running, len(f.began), f.forgotten)
}

func (f *fake) watch(ctx context.Context, ready func(), changed func(string, uint64, []byte)) error {
	for {
		select {
		case event := <-f.watches:
			if err := event(ready, changed); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// reports has the watch report sources: a name with a UID, or ready.
func (f *fake) reports(t *testing.T, revision uint64, names ...string) {
	t.Helper()
	f.watches <- func(ready func(), changed func(string, uint64, []byte)) error {
		for _, name := range names {
			name, uid, ok := strings.Cut(name, " ")
			if !ok {
				ready()
				continue
			}
			tree := must.Get(document.Parse([]byte(`{"type": "nats", "nats": {"subject": "a"}}`)))(t)
			s := must.Get(source.Read(key(name), tree, nil))(t).Replacing(nil, uid, time.Now())
			changed(source.StoredName(key(name)), revision, must.Get(s.Encode(secrets.NewVault(secrets.Config{})))(t))
		}
		return nil
	}
	synctest.Wait()
}

// run runs a manager until stop is called.
func (f *fake) run(t *testing.T) (*receive.Manager, func()) {
	t.Helper()
	f.watches = make(chan func(func(), func(string, uint64, []byte)) error)
	m := receive.New(receive.Config{Receivers: []receive.Receiver{f}, Watch: f.watch, Secrets: secrets.NewVault(secrets.Config{})})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		must.Do(t, m.Run(ctx))
	}()
	return m, func() {
		cancel()
		<-ended
		if f.running != 0 {
			t.Errorf("%d receivers are left", f.running)
		}
	}
}

// TestBackoff starts a failing receiver again, later each time, and soon after it has worked for some time.
func TestBackoff(t *testing.T) {
	for _, panics := range []bool{false, true} {
		bubble.Test(t, func(t *testing.T) {
			f := &fake{lasts: []time.Duration{0, 0, 0, 0, 0, 0, 0, 0, 2 * time.Minute}, panics: panics}
			m, stop := f.run(t)
			defer stop()
			began := time.Now()
			f.reports(t, 1, "a uid", "ready")
			time.Sleep(time.Hour)
			synctest.Wait()
			var pauses []string
			for _, at := range f.began {
				pauses = append(pauses, fmt.Sprint(at.Sub(began).Seconds()))
			}
			if got := strings.Join(pauses, " "); got != "0 1 3 7 15 31 63 123 183 304" {
				t.Errorf("started at %s", got)
			}
			status, ok := m.Status(key("a"))
			problem := map[bool]string{false: "broken", true: "oops"}[panics]
			if !ok || !status.Running || status.Lag != nil || !strings.Contains(status.LastError, problem) {
				t.Errorf("%+v, %t", status, ok)
			}
		})
	}
}

// TestWatch keeps sources while the watch is lost, and then stops those that are missing. Only a deletion that the watch
// reports, or another incarnation, has a source forgotten.
func TestWatch(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := &fake{}
		m, stop := f.run(t)
		defer stop()
		finds := func(name string, found, live bool) {
			t.Helper()
			if s, l := m.Find(key(name)); (s != nil) != found || l != live {
				t.Errorf("%s: found %t, live %t", name, s != nil, l)
			}
		}
		f.reports(t, 1, "a uid1")
		finds("c", false, false)
		f.reports(t, 1, "b uid2", "ready")
		finds("a", true, true)
		finds("c", false, true)
		f.watches <- func(func(), func(string, uint64, []byte)) error { return errors.New("lost") }
		time.Sleep(time.Minute)
		synctest.Wait()
		finds("a", true, false)
		if f.running != 2 || len(f.began) != 2 {
			t.Errorf("%d receivers while the watch is lost", f.running)
		}
		f.reports(t, 1, "a uid1", "ready")
		if _, ok := m.Status(key("b")); ok || f.running != 1 || len(f.began) != 2 {
			t.Errorf("%d receivers, b %t", f.running, ok)
		}
		f.reports(t, 2, "a uid3")
		if f.running != 1 || len(f.began) != 3 {
			t.Errorf("%d receivers after a new incarnation, %d starts", f.running, len(f.began))
		}
		f.watches <- func(_ func(), changed func(string, uint64, []byte)) error {
			changed("default.a", 3, []byte("damaged"))
			return nil
		}
		synctest.Wait()
		if f.running != 0 || !slices.Equal(f.forgotten, []string{"a uid1"}) {
			t.Errorf("%d receivers, forgotten: %v", f.running, f.forgotten)
		}
	})
}

// TestOverlap starts a source only after the receiver of a deleted source with its name has ended and is forgotten.
func TestOverlap(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := &fake{lasts: []time.Duration{time.Hour}}
		m, stop := f.run(t)
		defer stop()
		f.reports(t, 1, "a uid1", "ready")
		f.watches <- func(_ func(), changed func(string, uint64, []byte)) error {
			changed("default.a", 2, nil)
			return nil
		}
		synctest.Wait()
		if _, ok := m.Status(key("a")); ok {
			t.Error("a deleted source has a status")
		}
		f.reports(t, 3, "a uid2")
		if got := f.state(); got != "1 1 []" {
			t.Error("before the end:", got)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if got := f.state(); got != "1 2 [a uid1]" {
			t.Error("after the end:", got)
		}
	})
}

// TestAwait waits for the watch to report a revision, a second at most, and not for a watch that is lost.
func TestAwait(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := &fake{}
		m, stop := f.run(t)
		defer stop()
		takes := func(revision uint64, want time.Duration) {
			t.Helper()
			began := time.Now()
			m.Await(t.Context(), key("a"), revision)
			if took := time.Since(began); took != want {
				t.Errorf("revision %d: %s, want %s", revision, took, want)
			}
		}
		takes(1, 0)
		f.reports(t, 1, "ready")
		takes(1, time.Second)
		time.AfterFunc(300*time.Millisecond, func() { f.reports(t, 2, "a uid") })
		takes(2, 300*time.Millisecond)
		takes(1, 0)
		takes(3, time.Second)
	})
}

// TestHold renews a lease until the message is stored, and stops when it is lost.
func TestHold(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		renewals := 0
		renew := func(context.Context) error {
			renewals++
			if renewals == 3 {
				return errors.New("taken")
			}
			return nil
		}
		hold := func(d time.Duration) error {
			return receive.Hold(t.Context(), time.Second, renew, func(ctx context.Context) error {
				select {
				case <-ctx.Done():
					return context.Cause(ctx)
				case <-time.After(d):
					return nil
				}
			})
		}
		if err := hold(2500 * time.Millisecond); err != nil || renewals != 2 {
			t.Errorf("%v, %d renewals", err, renewals)
		}
		if err := hold(time.Hour); err == nil || !strings.Contains(err.Error(), "taken") {
			t.Errorf("%v", err)
		}
	})
}
