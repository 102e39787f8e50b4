package store

import (
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/wire"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

var (
	start  = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	orders = Name{Account: "account", Queue: "orders"}
)

// newStore returns a store in memory with an empty queue.
func newStore(t *testing.T) *Store {
	t.Helper()
	s := must.Get(Open(Config{}))(t)
	must.Get(s.CreateQueue(orders, nil))(t)
	return s
}

func put(t *testing.T, s *Store, text string, hidden time.Duration, now time.Time) wire.Message {
	t.Helper()
	return must.Get(s.Put(orders, text, now.Add(hidden), now.Add(time.Hour), now))(t)
}

func take(t *testing.T, s *Store, limit int, hidden time.Duration, now time.Time) []wire.Message {
	t.Helper()
	return must.Get(s.Take(orders, limit, now.Add(hidden), now))(t)
}

func texts(messages []wire.Message) []string {
	var texts []string
	for i := range messages {
		texts = append(texts, messages[i].Text)
	}
	return texts
}

// TestCounts has no message that could be visited: counting costs the same for any number of messages, because each scrape of the
// metrics locks the store for it.
func TestCounts(t *testing.T) {
	s := newStore(t)
	put(t, s, "a", 0, start)
	put(t, s, "hidden", time.Minute, start)
	q := s.find(orders)
	clear(q.visible.messages)
	for id := range q.messages {
		q.messages[id] = nil
	}
	if diff := cmp.Diff(map[Name]int{orders: 2}, s.Counts(start)); diff != "" {
		t.Error(diff)
	}
}

// TestOrder takes messages in the order in which they became visible.
func TestOrder(t *testing.T) {
	s := newStore(t)
	put(t, s, "late", 2*time.Second, start)
	put(t, s, "first", 0, start)
	put(t, s, "second", 0, start)
	put(t, s, "soon", time.Second, start)
	for _, step := range []struct {
		after time.Duration
		want  []string
	}{
		{0, []string{"first", "second"}},
		{time.Second, []string{"soon"}},
		{2*time.Second - 1, nil},
		{2 * time.Second, []string{"late"}},
		{10 * time.Second, []string{"first", "second"}},
		{11 * time.Second, []string{"soon"}},
		{59 * time.Minute, []string{"late", "first", "second", "soon"}},
		{time.Hour, nil}, // all have expired
	} {
		now := start.Add(step.after)
		seen := must.Get(s.Peek(orders, 32, now))(t)
		got := texts(take(t, s, 32, 10*time.Second, now))
		if diff := cmp.Diff(step.want, got); diff != "" || !slices.Equal(texts(seen), got) {
			t.Errorf("after %s (-want +got), peek %q:\n%s", step.after, texts(seen), diff)
		}
	}
	if q, err := s.Queue(orders, start.Add(time.Hour)); err != nil || q.Messages != 0 {
		t.Errorf("got %+v, %v", q, err)
	}
}

// TestOvertaken has a call whose time was taken before that of a call which came first.
func TestOvertaken(t *testing.T) {
	s := newStore(t)
	put(t, s, "x", 0, start.Add(time.Millisecond))
	if got := take(t, s, 1, time.Minute, start); len(got) != 1 {
		t.Error("a message that was put is not seen")
	}
	put(t, s, "y", 0, start.Add(time.Hour/2))
	if got := take(t, s, 1, time.Minute, start); len(got) != 0 {
		t.Errorf("a clock that was set back is not followed: got %v", got)
	}
}

func TestAutoCreate(t *testing.T) {
	s := must.Get(Open(Config{AutoCreate: true}))(t)
	if _, err := s.Queue(orders, start); !errors.Is(err, ErrNoQueue) {
		t.Errorf("looking at a queue made it: %v", err)
	}
	must.Get(s.Peek(orders, 1, start))(t)
	must.Get(s.Queue(orders, start))(t)
	if created, err := s.CreateQueue(orders, nil); created || err != nil {
		t.Errorf("got %v, %v", created, err)
	}
}

// TestMany holds many messages.
func TestMany(t *testing.T) {
	s := newStore(t)
	const many = 100_000
	for i := range many {
		put(t, s, "x", time.Duration(i%7)*time.Second, start)
	}
	seen := 0
	for {
		got := take(t, s, 32, 2*time.Hour, start.Add(time.Minute))
		seen += len(got)
		if len(got) == 0 {
			break
		}
	}
	if seen != many {
		t.Errorf("got %d messages", seen)
	}
	if q, err := s.Queue(orders, start.Add(time.Hour)); err != nil || q.Messages != 0 {
		t.Errorf("got %+v, %v", q, err)
	}
}

// seen returns the texts of a queue in pages of two.
func seen(t *testing.T, s *Store, name Name) []string {
	t.Helper()
	var all []string
	for from, more := uint64(0), true; more; more = from != 0 {
		page, next, err := s.Browse(name, from, 2, start)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range page {
			all = append(all, m.Text)
		}
		from = next
	}
	return all
}

// TestBrowse shows hidden messages too, in the order of their arrival, and changes none.
func TestBrowse(t *testing.T) {
	s := newStore(t)
	for i := range 250 {
		put(t, s, strconv.Itoa(i), time.Duration(i%3)*time.Minute, start)
	}
	taken := take(t, s, 1, time.Minute, start)[0]
	all := seen(t, s, orders)
	if len(all) != 250 || all[0] != "0" || all[249] != "249" || !slices.Contains(all, taken.Text) {
		t.Errorf("seen are %v", all)
	}
	summary, err := s.Summary(orders, start)
	if err != nil || summary.Messages != 250 || summary.Hidden != 167 || summary.Size != 10+180+450 {
		t.Errorf("%+v, %v", summary, err)
	}
	m, err := s.Message(orders, taken.ID, start)
	if err != nil || m.Receipt != taken.Receipt || m.DequeueCount != 1 {
		t.Errorf("looking has changed it: %+v, %v", m, err)
	}
	must.Do(t, s.Remove(orders, taken.ID, start))
	if err := s.Delete(orders, taken.ID, taken.Receipt, start); !errors.Is(err, ErrNoMessage) {
		t.Errorf("it is deleted twice: %v", err)
	}
	if n, err := s.Clear(orders, start); n != 249 || err != nil {
		t.Errorf("emptied %d, %v", n, err)
	}
	if summary, err := s.Summary(orders, start); err != nil || summary.Size != 0 || summary.Messages != 0 {
		t.Errorf("%+v, %v", summary, err)
	}
	none := Name{Account: "account", Queue: "none"}
	if _, _, err := s.Browse(none, 0, 1, start); !errors.Is(err, ErrNoQueue) {
		t.Error(err)
	}
	if err := s.Remove(none, "id", start); !errors.Is(err, ErrNoQueue) || len(s.Summaries(start)) != 1 {
		t.Errorf("a queue was made: %v", err)
	}
}

// TestMove has a message in one of two queues, also after a restart.
func TestMove(t *testing.T) {
	dir := t.TempDir()
	s := must.Get(Open(Config{Dir: dir}))(t)
	poison := Name{Account: "account", Queue: "orders-poison"}
	for _, name := range []Name{orders, poison} {
		must.Get(s.CreateQueue(name, nil))(t)
	}
	m := must.Get(s.Put(poison, "failed", start, start.Add(time.Hour), start))(t)
	if err := s.Move(poison, m.ID, "nowhere", start.Add(time.Hour), start); !errors.Is(err, ErrNoQueue) {
		t.Error(err)
	}
	must.Do(t, s.Move(poison, m.ID, "orders", start.Add(time.Hour), start))
	if err := s.Move(poison, m.ID, "orders", start.Add(time.Hour), start); !errors.Is(err, ErrNoMessage) {
		t.Errorf("moved twice: %v", err)
	}
	must.Do(t, s.Close())
	s = must.Get(Open(Config{Dir: dir}))(t)
	defer func() { _ = s.Close() }()
	if got, left := seen(t, s, orders), seen(t, s, poison); !slices.Equal(got, []string{"failed"}) || left != nil {
		t.Errorf("the queues have %v and %v", got, left)
	}
}
