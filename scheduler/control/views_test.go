package control_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/control"
)

// TestViews creates, replaces and removes shared views, each with an entry in the audit log. Damaged ones are replaced.
func TestViews(t *testing.T) {
	w, ctx := newHarness(t), t.Context()
	views := func() map[string]string {
		all, _, err := w.service.Views(ctx)
		must.Do(t, err)
		return all
	}
	const first, second = "/jobs?a=b", "/jobs"
	const name = "Failing – «night» é. *>"
	must.Get(w.store.Settings().Save(ctx, "views", []byte("null"), 0))(t)
	must.Do(t, errors.Join(w.service.PutView(ctx, name, first), w.service.PutView(ctx, name, second), w.service.PutView(ctx, "b", first)))
	if diff := cmp.Diff(map[string]string{name: second, "b": first}, views()); diff != "" {
		t.Error(diff)
	}
	for wrong, want := range map[error]error{
		w.service.PutView(ctx, "b", "/jobs2?a=b"): scheduler.ErrConflict,
		w.service.DeleteView(ctx, "c"):            scheduler.ErrNotFound,
	} {
		if !errors.Is(wrong, want) {
			t.Errorf("%v, want %v", wrong, want)
		}
	}
	must.Do(t, w.service.DeleteView(ctx, name))
	entries, _, err := w.service.Trail(ctx, control.TrailQuery{Scope: audit.Scope{Kind: audit.View}}, v1.Page{})
	must.Do(t, err)
	var got []string
	for _, e := range slices.Backward(entries) {
		got = append(got, e.Op+" "+e.Name+" "+e.Result)
	}
	want := []string{"put " + name + " created", "put " + name + " updated", "put b created", "delete " + name + " deleted"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	st := must.Get(w.store.Settings().Load(ctx, "views"))(t)
	must.Get(w.store.Settings().Save(ctx, "views", []byte("{"), st.Revision))(t)
	must.Do(t, w.service.PutView(ctx, "c", first))
	if all := views(); len(all) != 1 {
		t.Errorf("over damaged ones: %v", all)
	}
}

// TestViewLimits refuses names that cannot be read, long queries and too many views, and loses none of those that are put at once.
func TestViewLimits(t *testing.T) {
	w, ctx := newHarness(t), t.Context()
	views := func() map[string]string {
		all, _, err := w.service.Views(ctx)
		must.Do(t, err)
		return all
	}
	for name, query := range map[string]string{
		"": "", strings.Repeat("x", 61): "", "a\u202eb": "", "a\nb": "", "a\xff": "", "a": strings.Repeat("q", 1995),
	} {
		field := map[bool]string{true: "name", false: "query"}[query == ""]
		if err := w.service.PutView(ctx, name, "/jobs?"+query); scheduler.ProblemsIn(err)[0].Path != field {
			t.Errorf("%q: %v", name, err)
		}
	}
	var puts sync.WaitGroup
	for i := range 100 {
		if i%4 == 0 {
			puts.Wait()
		}
		puts.Go(func() {
			if err := w.service.PutView(ctx, fmt.Sprintf("view %d", i), "/jobs"); err != nil {
				t.Error(err)
			}
		})
	}
	puts.Wait()
	if err := w.service.PutView(ctx, "one more", "/jobs"); !errors.Is(err, scheduler.ErrConflict) {
		t.Error(err)
	}
	must.Do(t, w.service.PutView(ctx, "view 7", "/jobs?"+strings.Repeat("q", 1994)))
	if names := slices.Collect(maps.Keys(views())); len(names) != 100 {
		t.Errorf("%d views: %v", len(names), names)
	}
}
