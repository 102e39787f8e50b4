package rest_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/control"
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
	w := newWorld(t)
	w.must(http.MethodPut, "/jobCollections/team", `{"properties": {"quota": {"maxJobCount": 5}}}`)
	slow := &silent{w.store, make(chan struct{})}
	w.service = control.New(control.Config{Store: slow, Actions: w.actions, Secrets: w.vault})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.service.Run(ctx) }()
	<-slow.ready
	w.serve(nil)
	const job = `{"action": {"type": "Http", "request": {"method": "GET", "uri": "http://target.example"}}, "startTime": "2099-01-01T00:00:00Z"}`
	for _, test := range []struct {
		method, path, body string
		want               int
	}{
		{"PUT", "/jobCollections/team/jobs/a", job, http.StatusCreated},
		{"PUT", "/jobCollections/team", `{"properties": {"quota": {"maxJobCount": 1}}}`, http.StatusOK},
		{"PUT", "/jobCollections/team/jobs/b", job, http.StatusConflict},
		{"DELETE", "/jobCollections/team", "", http.StatusOK},
		{"PUT", "/jobCollections/team/jobs/a", job, http.StatusNotFound},
		{"PUT", "/jobCollections/team", `{}`, http.StatusCreated},
		{"PUT", "/jobCollections/team/jobs/b", job, http.StatusCreated},
	} {
		if got := w.do(test.method, test.path, test.body); got.status != test.want {
			t.Errorf("%s %s: %d %s, want %d", test.method, test.path, got.status, got.body, test.want)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
