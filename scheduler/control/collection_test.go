package control_test

import (
	"context"
	"errors"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/store/storetest"
)

// silent is a store that tells of the collections that there are, and of no change.
type silent struct {
	scheduler.Store

	ready chan struct{}
}

func (s *silent) Collections() scheduler.CheckedBucket {
	return &silentBucket{s.Store.Collections(), s.ready}
}

type silentBucket struct {
	scheduler.CheckedBucket

	stands chan struct{}
}

func (b *silentBucket) Watch(ctx context.Context, ready func(), changed func(string, uint64, []byte)) error {
	told := false
	return b.CheckedBucket.Watch(ctx, func() { ready(); told = true; close(b.stands) }, func(name string, revision uint64, data []byte) {
		if !told {
			changed(name, revision, data)
		}
	})
}

// TestOwnCollectionIsKnownAtOnce changes collections, each of which the next request goes by, before it is told.
func TestOwnCollectionIsKnownAtOnce(t *testing.T) {
	w := newHarness(t)
	w.collection("team", `{"properties": {"quota": {"maxJobCount": 5}}}`)
	slow := &silent{w.store, make(chan struct{})}
	w.service = w.over(slow)
	storetest.Run(t, w.service.Run)
	<-slow.ready
	put := func(name string) error {
		_, _, err := w.service.Put(t.Context(), control.Edit{Key: scheduler.Key{Collection: "team", Job: name}, Body: []byte(later)})
		return err
	}
	if err := put("a"); err != nil {
		t.Error(err)
	}
	w.collection("team", `{"properties": {"quota": {"maxJobCount": 1}}}`)
	if err := put("b"); !errors.Is(err, scheduler.ErrConflict) {
		t.Errorf("beyond the quota: %v", err)
	}
	must.Do(t, w.service.DeleteCollection(t.Context(), "team", false))
	if err := put("a"); !errors.Is(err, scheduler.ErrNotFound) {
		t.Errorf("into a collection that was deleted: %v", err)
	}
	w.collection("team", "{}")
	if err := put("b"); err != nil {
		t.Errorf("into a collection that was created again: %v", err)
	}
}
