package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/audit"
)

// entry returns an entry of the audit log.
func entry(kind audit.Kind, collection, job, name string) *audit.Entry {
	return &audit.Entry{
		Time: time.Date(2026, 3, 2, 9, 0, 0, 5, time.UTC), Kind: kind, Op: "put", Collection: collection, Job: job, Name: name,
		By: audit.By{Name: "alice", Via: "token", Address: "192.0.2.7"}, Revision: 3, Generation: 2, UID: "u", State: scheduler.Enabled,
	}
}

// seen returns the targets of the entries in a scope, newest first.
func (w *harness) seen(of audit.Scope, before uint64) (targets []string) {
	w.t.Helper()
	w.must(w.store.RecentEntries(w.t.Context(), of, before, func(e *audit.Entry) bool {
		targets = append(targets, e.Target())
		return true
	}))
	return targets
}

func TestTrailIsReadNewestFirstByScope(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		for _, e := range []*audit.Entry{
			entry(audit.Collection, "a", "", ""), entry(audit.Job, "a", "x", ""), entry(audit.Job, "b", "x", ""),
			entry(audit.Secret, "", "", "key"), entry(audit.Job, "a", "y", ""), entry(audit.Job, "a", "x", ""),
		} {
			w.must(w.store.AppendEntry(t.Context(), e))
		}
		tests := []struct {
			of     audit.Scope
			before uint64
			want   []string
		}{
			{audit.Scope{}, 0, []string{"a/x", "a/y", "secret key", "b/x", "a/x", "collection a"}},
			{audit.Scope{}, 3, []string{"a/x", "collection a"}},
			{audit.Scope{Collection: "a"}, 0, []string{"a/x", "a/y", "a/x", "collection a"}},
			{audit.Scope{Collection: "a", Kind: audit.Job}, 0, []string{"a/x", "a/y", "a/x"}},
			{audit.Scope{Collection: "a", Kind: audit.Collection}, 0, []string{"collection a"}},
			{audit.Scope{Collection: "a", Job: "x"}, 6, []string{"a/x"}},
			{audit.Scope{Kind: audit.Secret}, 0, []string{"secret key"}},
			{audit.Scope{Collection: "c"}, 0, nil},
		}
		for _, test := range tests {
			if diff := cmp.Diff(test.want, w.seen(test.of, test.before)); diff != "" {
				t.Errorf("%+v before %d: %s", test.of, test.before, diff)
			}
		}
	})
}

// TestTrailKeepsAnEntryWhole: every read method returns an entry unchanged.
func TestTrailKeepsAnEntryWhole(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		e := entry(audit.Job, "a", "x", "")
		e.Changed = []string{"recurrence.interval"}
		w.must(w.store.AppendEntry(t.Context(), e))
		e.Sequence = 1
		w.must(w.store.RecentEntries(t.Context(), audit.Scope{}, 0, func(got *audit.Entry) bool {
			if diff := cmp.Diff(e, got); diff != "" {
				t.Error(diff)
			}
			return false
		}))
		found := 0
		keys := []scheduler.Key{{Collection: "a", Job: "x"}, {Collection: "a", Job: "none"}}
		w.must(w.store.LastEntries(t.Context(), keys, func(got *audit.Entry) {
			found++
			if diff := cmp.Diff(e, got); diff != "" {
				t.Error(diff)
			}
		}))
		if found != 1 {
			t.Errorf("%d last entries, want 1", found)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		w.must(w.store.FollowEntries(ctx, audit.Scope{Collection: "a"}, 0, func(got *audit.Entry) {
			if diff := cmp.Diff(e, got); diff != "" {
				t.Error(diff)
			}
			cancel()
		}))
		if !errors.Is(ctx.Err(), context.Canceled) {
			t.Error("nothing was followed")
		}
	})
}

func TestTrailFindsTheEndOfWhatWasBegun(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		begun := entry(audit.Secret, "", "", "key")
		begun.Phase = audit.Begun
		for range 2 {
			begun.Sequence = must.Get(w.store.BeginEntry(t.Context(), begun))(t)
		}
		if end, err := w.store.EndOf(t.Context(), begun); end != nil || err != nil {
			t.Errorf("an end of what has none: %v, %v", end, err)
		}
		end := entry(audit.Secret, "", "", "key")
		end.Begun = begun.Sequence
		for range 40 { // others with the same name, in between
			w.must(w.store.AppendEntry(t.Context(), entry(audit.Secret, "", "", "key")))
		}
		w.must(w.store.AppendEntry(t.Context(), end))
		if got, err := w.store.EndOf(t.Context(), begun); err != nil || got == nil || got.Begun != begun.Sequence {
			t.Errorf("the end is %v, %v", got, err)
		}
	})
}

// TestTrailDeniesDeletion: not even the scheduler's own user can delete a message of the audit log.
func TestTrailDeniesDeletion(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.must(w.store.AppendEntry(t.Context(), entry(audit.Job, "a", "x", "")))
		js := must.Get(jetstream.New(w.nc))(t)
		st := must.Get(js.Stream(t.Context(), "CARILLON_AUDIT"))(t)
		if err := st.DeleteMsg(t.Context(), 1); err == nil {
			t.Error("deleted")
		}
		if age := st.CachedInfo().Config.MaxAge; age != 400*24*time.Hour {
			t.Errorf("kept for %s", age)
		}
	})
}

func TestChecked(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		_, err := w.store.Checked(t.Context())
		if !errors.Is(err, scheduler.ErrNotFound) {
			t.Errorf("never looked at, but: %v", err)
		}
		w.must(w.store.SetChecked(t.Context(), 12))
		if n, err := w.store.Checked(t.Context()); n != 12 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	})
}

// TestTrailTellsWhenItBegins checks the time of the oldest entry.
func TestTrailTellsWhenItBegins(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		if at, err := w.store.FirstEntry(t.Context()); err != nil || !at.IsZero() {
			t.Errorf("empty: %s, %v", at, err)
		}
		time.Sleep(time.Hour)
		began := time.Now().UTC()
		for range 2 {
			w.must(w.store.AppendEntry(t.Context(), entry(audit.Job, "a", "x", "")))
			time.Sleep(time.Hour)
		}
		if at, err := w.store.FirstEntry(t.Context()); err != nil || at.Sub(began).Abs() > time.Minute {
			t.Errorf("%s, %v, want %s", at, err, began)
		}
	})
}
