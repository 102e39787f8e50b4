package store

import (
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"
)

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
	if err := s.Remove(orders, taken.ID, start); err != nil {
		t.Error(err)
	}
	if err := s.Delete(orders, taken.ID, taken.Receipt, start); !errors.Is(err, ErrNoMessage) {
		t.Errorf("it is deleted twice: %v", err)
	}
	if n, err := s.Empty(orders, start); n != 249 || err != nil {
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
	s, err := Open(Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	poison := Name{Account: "account", Queue: "orders-poison"}
	for _, name := range []Name{orders, poison} {
		if _, err := s.CreateQueue(name, nil); err != nil {
			t.Fatal(err)
		}
	}
	m, err := s.Put(poison, "failed", start, start.Add(time.Hour), start)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Move(poison, m.ID, "nowhere", start.Add(time.Hour), start); !errors.Is(err, ErrNoQueue) {
		t.Error(err)
	}
	if err := s.Move(poison, m.ID, "orders", start.Add(time.Hour), start); err != nil {
		t.Fatal(err)
	}
	if err := s.Move(poison, m.ID, "orders", start.Add(time.Hour), start); !errors.Is(err, ErrNoMessage) {
		t.Errorf("moved twice: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(Config{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if got, left := seen(t, s, orders), seen(t, s, poison); !slices.Equal(got, []string{"failed"}) || left != nil {
		t.Errorf("the queues have %v and %v", got, left)
	}
}
