package store

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/wire"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestRestart does anything in any order and opens the store again in between: nothing must be different then.
func TestRestart(t *testing.T) {
	dir, runs := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		w := &harness{cfg: Config{Dir: filepath.Join(dir, strconv.Itoa(runs)), AutoCreate: true}, now: start, messages: map[string]known{}}
		w.cfg.SnapshotAfter = rapid.SampledFrom([]int64{1, 2000, 1 << 20}).Draw(t, "snapshotAfter")
		w.open(t)
		defer func() { _ = w.store.Close() }()
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				name, ttl := w.name(t), time.Duration(rapid.IntRange(1, 1000).Draw(t, "ttl"))*time.Second
				m, err := w.store.Put(name, rapid.String().Draw(t, "text"), w.later(t), w.now.Add(ttl), w.now)
				w.note(t, name, m, err)
			},
			"take": func(t *rapid.T) {
				name := w.name(t)
				messages, err := w.store.Take(name, 3, w.later(t), w.now)
				w.check(t, err)
				for i := range messages {
					w.note(t, name, messages[i], nil)
				}
			},
			"update": func(t *rapid.T) {
				name, m := w.known(t)
				text := rapid.SampledFrom([]*string{nil, new(string), new("new")}).Draw(t, "text")
				m, err := w.store.Update(name, m.ID, m.Receipt, text, w.later(t), w.now)
				w.note(t, name, m, err)
			},
			"delete": func(t *rapid.T) {
				name, m := w.known(t)
				w.check(t, w.store.Delete(name, m.ID, m.Receipt, w.now))
			},
			"clear or drop": func(t *rapid.T) {
				switch rapid.IntRange(0, 9).Draw(t, "which") {
				case 0:
					_, err := w.store.Clear(w.name(t), w.now)
					w.check(t, err)
				case 1:
					w.check(t, w.store.DeleteQueue(w.name(t)))
				default:
					w.now = w.now.Add(time.Second)
				}
			},
			"create":       func(t *rapid.T) { _, err := w.store.CreateQueue(w.name(t), w.metadata(t)); w.check(t, err) },
			"metadata":     func(t *rapid.T) { w.check(t, w.store.SetMetadata(w.name(t), w.metadata(t))) },
			"policies":     func(t *rapid.T) { w.check(t, w.store.SetPolicies(w.name(t), []wire.Policy{{ID: "a", Start: w.now}})) },
			"properties":   w.properties,
			"open it anew": w.reopen,
		})
	})
}

// A harness is a store that is used, and what its users know.
type harness struct {
	cfg      Config
	store    *Store
	now      time.Time
	messages map[string]known // by identifier
	ids      []string         // in the order of their putting
}

type known struct {
	name    Name
	message wire.Message
}

func (w *harness) open(t *rapid.T) {
	w.store = must.Get(Open(w.cfg))(t)
}

func (w *harness) reopen(t *rapid.T) {
	properties, queues := w.state()
	must.Do(t, w.store.Close())
	w.open(t)
	propertiesAfter, queuesAfter := w.state()
	if diff := gocmp.Diff(queues, queuesAfter, cmpopts.EquateEmpty()) + gocmp.Diff(properties, propertiesAfter); diff != "" {
		t.Fatalf("after a restart (-before +after):\n%s", diff)
	}
}

// A held queue is one with its messages in the order of their arrival.
type held struct {
	Name

	Metadata map[string]string
	Policies []wire.Policy
	Messages []wire.Message
}

// state is what the store holds, without what has expired.
func (w *harness) state() (wire.Properties, []held) {
	var queues []held
	for account, a := range w.store.accounts {
		for name, q := range a.queues {
			q.expire(w.now)
			h := held{Name{account, name}, q.metadata, q.policies, nil}
			for _, m := range slices.SortedFunc(maps.Values(q.messages), func(a, b *message) int { return cmp.Compare(a.arrival, b.arrival) }) {
				h.Messages = append(h.Messages, m.Message)
			}
			queues = append(queues, h)
		}
	}
	slices.SortFunc(queues, func(a, b held) int { return cmp.Compare(a.Queue, b.Queue) })
	return w.store.properties("account"), queues
}

func (w *harness) name(t *rapid.T) Name {
	return Name{Account: "account", Queue: rapid.SampledFrom([]string{"one", "two"}).Draw(t, "queue")}
}

func (w *harness) metadata(t *rapid.T) map[string]string {
	return rapid.SampledFrom([]map[string]string{nil, {"a": "1"}, {"a": "1", "B": "2"}}).Draw(t, "metadata")
}

func (w *harness) later(t *rapid.T) time.Time {
	return w.now.Add(time.Duration(rapid.IntRange(0, 2).Draw(t, "hidden")) * time.Second)
}

func (w *harness) properties(t *rapid.T) {
	w.check(t, w.store.ChangeProperties("account", func(p wire.Properties) (wire.Properties, error) {
		p.Logging.Read = !p.Logging.Read
		return p, nil
	}))
}

// note remembers a message with its newest receipt.
func (w *harness) note(t *rapid.T, name Name, m wire.Message, err error) {
	w.check(t, err)
	if err != nil {
		return
	}
	if _, ok := w.messages[m.ID]; !ok {
		w.ids = append(w.ids, m.ID)
	}
	w.messages[m.ID] = known{name, m}
}

// known returns a message that is or was there.
func (w *harness) known(t *rapid.T) (Name, wire.Message) {
	if len(w.ids) == 0 {
		return w.name(t), wire.Message{}
	}
	k := w.messages[w.ids[rapid.IntRange(0, len(w.ids)-1).Draw(t, "message")]]
	return k.name, k.message
}

// check takes every error that callers tell apart.
func (w *harness) check(t *rapid.T, err error) {
	for _, known := range []error{nil, ErrNoQueue, ErrQueueExists, ErrNoMessage, ErrReceipt, ErrTooLate} {
		if errors.Is(err, known) {
			return
		}
	}
	t.Fatal(err)
}

// TestRewriteWhileInUse has many users of a store that is rewritten all the time.
func TestRewriteWhileInUse(t *testing.T) {
	cfg := Config{Dir: t.TempDir(), SnapshotAfter: 1, AutoCreate: true}
	s := must.Get(Open(cfg))(t)
	const users, each = 4, 200
	var group sync.WaitGroup
	for user := range users {
		group.Go(func() {
			name := Name{Account: "account", Queue: fmt.Sprint("queue", user)}
			for i := range each {
				m, err := s.Put(name, strconv.Itoa(i), start, start.Add(time.Hour), start)
				if err == nil && i%2 == 0 {
					err = s.Delete(name, m.ID, m.Receipt, start)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	must.Do(t, s.Close())
	s = must.Get(Open(cfg))(t)
	defer func() { _ = s.Close() }()
	for user := range users {
		q, err := s.Queue(Name{Account: "account", Queue: fmt.Sprint("queue", user)}, start)
		if err != nil || q.Messages != each/2 {
			t.Errorf("got %+v, %v", q, err)
		}
	}
	size := int64(0)
	files, err := os.ReadDir(cfg.Dir)
	for _, file := range files {
		if info, infoErr := file.Info(); infoErr == nil {
			size += info.Size()
		}
	}
	if size > 1<<20 || err != nil {
		t.Errorf("the files have %d bytes, %v", size, err)
	}
}

// TestForeignRecords has files that the store did not write.
func TestForeignRecords(t *testing.T) {
	for _, record := range []string{`{`, `{"op":"other","account":"a","queue":"q"}`, `{"op":"put","account":"a","queue":"q"}`} {
		s := &Store{accounts: map[string]*account{"a": {queues: map[string]*queue{"q": newQueue(nil)}}}}
		if err := s.restore([]byte(record)); err == nil {
			t.Errorf("%s was taken", record)
		}
	}
	path := filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(path, nil, 0o600))
	if _, err := Open(Config{Dir: path}); err == nil {
		t.Error("a file was taken for a folder")
	}
}

func BenchmarkPut(b *testing.B) {
	for _, dir := range []string{"", b.TempDir()} {
		b.Run(map[bool]string{true: "memory", false: "file"}[dir == ""], func(b *testing.B) {
			s := must.Get(Open(Config{Dir: dir, AutoCreate: true}))(b)
			defer func() { _ = s.Close() }()
			text := string(make([]byte, 200))
			for b.Loop() {
				must.Get(s.Put(orders, text, start, start.Add(time.Hour), start))(b)
			}
		})
	}
}
