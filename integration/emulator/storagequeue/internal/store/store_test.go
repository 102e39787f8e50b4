package store

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/wire"
)

var (
	start  = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	orders = Name{Account: "account", Queue: "orders"}
)

// newStore returns a store in memory with an empty queue.
func newStore(t *testing.T) *Store {
	t.Helper()
	s, err := Open(Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateQueue(orders, nil); err != nil {
		t.Fatal(err)
	}
	return s
}

func put(t *testing.T, s *Store, text string, hidden time.Duration, now time.Time) wire.Message {
	t.Helper()
	m, err := s.Put(orders, text, now.Add(hidden), now.Add(time.Hour), now)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func take(t *testing.T, s *Store, limit int, hidden time.Duration, now time.Time) []wire.Message {
	t.Helper()
	messages, err := s.Take(orders, limit, now.Add(hidden), now)
	if err != nil {
		t.Fatal(err)
	}
	return messages
}

func texts(messages []wire.Message) []string {
	var texts []string
	for i := range messages {
		texts = append(texts, messages[i].Text)
	}
	return texts
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
		seen, err := s.Peek(orders, 32, now)
		if err != nil {
			t.Fatal(err)
		}
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

func TestReceipts(t *testing.T) {
	s := newStore(t)
	m := put(t, s, "one", 0, start)
	taken := take(t, s, 1, time.Minute, start)[0]
	if taken.DequeueCount != 1 || taken.Receipt == m.Receipt {
		t.Errorf("got %+v", taken)
	}
	if err := s.Delete(orders, m.ID, m.Receipt, start); !errors.Is(err, ErrReceipt) {
		t.Errorf("an old receipt: got %v", err)
	}
	text := "two"
	updated, err := s.Update(orders, m.ID, taken.Receipt, &text, start.Add(time.Second), start)
	if err != nil || updated.Text != text || updated.DequeueCount != 1 || updated.Receipt == taken.Receipt {
		t.Errorf("got %+v, %v", updated, err)
	}
	if _, err := s.Update(orders, m.ID, updated.Receipt, nil, start.Add(2*time.Hour), start); !errors.Is(err, ErrTooLate) {
		t.Errorf("beyond its end: got %v", err)
	}
	if _, err := s.Update(orders, m.ID, updated.Receipt, nil, start, start.Add(time.Hour)); !errors.Is(err, ErrNoMessage) {
		t.Errorf("after its end: got %v", err)
	}
}

func TestNoQueue(t *testing.T) {
	s := newStore(t)
	name := Name{Account: "account", Queue: "nothing"}
	_, put := s.Put(name, "x", start, start, start)
	_, take := s.Take(name, 1, start, start)
	_, peek := s.Peek(name, 1, start)
	_, update := s.Update(name, "x", "x", nil, start, start)
	_, queue := s.Queue(name, start)
	for i, err := range []error{
		put, take, peek, update, queue,
		s.Delete(name, "x", "x", start), s.Clear(name, start), s.DeleteQueue(name), s.SetMetadata(name, nil), s.SetPolicies(name, nil),
	} {
		if !errors.Is(err, ErrNoQueue) {
			t.Errorf("%d: got %v", i, err)
		}
	}
}

func TestAutoCreate(t *testing.T) {
	s, err := Open(Config{AutoCreate: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Queue(orders, start); !errors.Is(err, ErrNoQueue) {
		t.Errorf("looking at a queue made it: %v", err)
	}
	if _, err := s.Peek(orders, 1, start); err != nil {
		t.Error(err)
	}
	if _, err := s.Queue(orders, start); err != nil {
		t.Error(err)
	}
	if created, err := s.CreateQueue(orders, nil); created || err != nil {
		t.Errorf("got %v, %v", created, err)
	}
}

func TestCreateQueue(t *testing.T) {
	s := newStore(t)
	name := Name{Account: "account", Queue: "other"}
	for _, step := range []struct {
		metadata map[string]string
		created  bool
		err      error
	}{
		{map[string]string{"Key": "a"}, true, nil},
		{map[string]string{"key": "a"}, false, nil},
		{map[string]string{"key": "A"}, false, ErrQueueExists},
		{map[string]string{"other": "a"}, false, ErrQueueExists},
		{nil, false, ErrQueueExists},
	} {
		created, err := s.CreateQueue(name, step.metadata)
		if created != step.created || !errors.Is(err, step.err) {
			t.Errorf("%v: got %v, %v", step.metadata, created, err)
		}
	}
}

func TestQueues(t *testing.T) {
	s := newStore(t)
	for _, queue := range []string{"b", "ab", "aa", "ac"} {
		if _, err := s.CreateQueue(Name{Account: "account", Queue: queue}, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		account, prefix, from string
		limit                 int
		want                  []string
		next                  string
	}{
		{"account", "", "", 10, []string{"aa", "ab", "ac", "b", "orders"}, ""},
		{"account", "a", "", 2, []string{"aa", "ab"}, "ac"},
		{"account", "a", "ac", 2, []string{"ac"}, ""},
		{"account", "", "c", 1, []string{"orders"}, ""},
		{"other", "", "", 1, nil, ""},
	} {
		page, next := s.Queues(test.account, test.prefix, test.from, test.limit)
		var got []string
		for i := range page {
			got = append(got, page[i].Name)
		}
		if !slices.Equal(got, test.want) || next != test.next {
			t.Errorf("%+v: got %q, %q", test, got, next)
		}
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
