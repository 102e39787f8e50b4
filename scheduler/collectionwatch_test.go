package scheduler

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// lister tells of collections as a store whose watch breaks: first of a and b, then of a alone.
type lister struct {
	t     *testing.T
	watch int
}

// EachCollection is not called.
func (l *lister) EachCollection(context.Context, func(Stored) error) error {
	return errors.ErrUnsupported
}

// WatchCollections tells what there is, and breaks off once after a minute.
func (l *lister) WatchCollections(ctx context.Context, ready func(), changed func(string, uint64, []byte)) error {
	data, err := defaultCollection().encode()
	if err != nil {
		l.t.Fatal(err)
	}
	l.watch++
	changed("a", 1, data)
	if l.watch == 1 {
		changed("b", 2, data)
	}
	ready()
	select {
	case <-time.After(time.Minute):
		return errors.New("broken")
	case <-ctx.Done():
		return nil
	}
}

// TestCollectionsDeletedUnseen shows that a collection which was deleted while the watch was broken is not known any more.
func TestCollectionsDeletedUnseen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		known := func(c *collections) (int, bool) {
			c.mu.RLock()
			defer c.mu.RUnlock()
			return len(c.byID), c.live
		}
		c := &collections{store: &lister{t: t}, byID: map[string]*Collection{}, seen: map[string]bool{}}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go c.watch(ctx, func(error) {})
		synctest.Wait()
		if n, live := known(c); n != 2 || !live {
			t.Errorf("at first %d collections are known, live %t", n, live)
		}
		time.Sleep(time.Minute + time.Millisecond)
		synctest.Wait()
		if n, live := known(c); n != 2 || live {
			t.Errorf("without a watch %d collections are known, live %t", n, live)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if n, live := known(c); n != 1 || !live {
			t.Errorf("in the end %d collections are known, live %t", n, live)
		}
	})
}
