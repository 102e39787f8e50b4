package control_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/control"
)

// TestCycle puts jobs that follow each other: a put that closes a cycle is refused, and one that follows a missing job
// has a warning.
func TestCycle(t *testing.T) {
	type put struct {
		job, on string
		depth   bool
		want    string // error or warning
	}
	chain := []put{
		{"a", `{"source": "orders"}`, false, ""}, {"b", `{"job": "a"}`, false, ""}, {"other/c", `{"job": "default/b"}`, false, ""},
	}
	for name, c := range map[string]struct {
		puts []put
		last put
	}{
		"no cycle": {chain, put{"d", `[{"job": "b"}, {"job": "other/c"}]`, false, ""}},
		"itself": {nil, put{
			"a", `[{"job": "a"}]`, false,
			"trigger.on[0].job: closes a cycle: a → a; set trigger.maxDepth to allow it",
		}},
		"two jobs": {chain[:2], put{
			"a", `[{"job": "b"}]`, false,
			"trigger.on[0].job: closes a cycle: a → b → a; set trigger.maxDepth to allow it",
		}},
		"across collections": {chain, put{
			"a", `[{"source": "orders"}, {"job": "other/c"}]`, false,
			"trigger.on[1].job: closes a cycle: a → b → other/c → a; set trigger.maxDepth to allow it",
		}},
		"one listener": {chain[:2], put{
			"a", `{"job": "b"}`, false,
			"trigger.on.job: closes a cycle: a → b → a; set trigger.maxDepth to allow it",
		}},
		"allowed": {chain[:2], put{"a", `{"job": "b"}`, true, ""}},
		"missing": {nil, put{
			"a", `[{"job": "b"}, {"job": "gone"}]`, false,
			"trigger.on[0].job: has no effect yet: job default/b does not exist",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newHarness(t)
			w.collection("other", `{}`)
			for _, p := range slices.Concat(c.puts, []put{c.last}) {
				trigger := `{"on": ` + p.on
				if p.depth {
					trigger += `, "maxDepth": 5`
				}
				body := `{"action": {"type": "http", "request": {"uri": "http://target.test/", "method": "GET"}}, "trigger": ` + trigger + `}}`
				v, _, err := w.service.Put(t.Context(), control.Edit{Key: scheduler.KeyIn("", p.job), Body: []byte(body)})
				got := ""
				switch {
				case errors.Is(err, scheduler.ErrInvalid):
					got = scheduler.ProblemsIn(err)[0].Error()
				case err != nil:
					t.Fatal(err)
				case len(v.Warnings) > 0:
					got = v.Warnings[0].Path + ": " + v.Warnings[0].Message
				}
				if got != p.want {
					t.Errorf("put of %s says\n%q, want\n%q", p.job, got, p.want)
				}
			}
		})
	}
}

// TestListensElsewhere puts jobs that listen to other collections: the caller needs the right to read these, but only for
// listeners that are new.
func TestListensElsewhere(t *testing.T) {
	w := newHarness(t)
	w.collection("other", `{}`)
	ctx := auth.With(t.Context(), &auth.Principal{Grants: []auth.Grant{{Role: auth.Operator, Collections: []string{"default"}}}})
	put := func(ctx context.Context, job, on string) error {
		body := `{"action": {"type": "http", "request": {"uri": "http://target.test/", "method": "GET"}}, "trigger": {"on": ` + on + `}}`
		_, _, err := w.service.Put(ctx, control.Edit{Key: scheduler.KeyIn("", job), Body: []byte(body)})
		return err
	}
	must.Do(t, put(t.Context(), "old", `{"subject": "other.orders"}`))
	for _, test := range []struct{ job, on, path string }{
		{"a", `[{"source": "orders"}, {"subject": "default.orders"}, {"job": "old"}]`, ""},
		{"a", `[{"source": "orders"}, {"subject": "other.orders"}]`, "trigger.on[1].subject"},
		{"b", `{"job": "other/c"}`, "trigger.on.job"},
		{"b", `{"job": "absent/c"}`, "trigger.on.job"},
		{"old", `[{"source": "more"}, {"subject": "other.orders"}]`, ""},
		{"old", `[{"subject": "other.refunds"}]`, "trigger.on[0].subject"},
	} {
		err := put(ctx, test.job, test.on)
		var want string
		if test.path != "" {
			want = test.path + ": the collection does not exist, or you may not read it: listening needs its role reader"
		}
		got := ""
		if err != nil {
			got = scheduler.ProblemsIn(err)[0].Error()
		}
		if got != want {
			t.Errorf("%s on %s: %q, want %q", test.job, test.on, got, want)
		}
	}
	sent := must.Get(w.service.PublishEvent(ctx, scheduler.Topic{Collection: "other", Name: "orders"}, nil, []byte("1")))(t)
	stored := fmt.Appendf(nil, `{"sequence": %d}`, sent.Sequence)
	if _, err := w.service.TestEvent(ctx, scheduler.KeyIn("", "old"), stored); !errors.Is(err, scheduler.ErrNotFound) {
		t.Errorf("a test with an event of another collection: %v", err)
	}
	must.Get(w.service.TestEvent(t.Context(), scheduler.KeyIn("", "old"), stored))(t)
	patch := control.Edit{Key: scheduler.KeyIn("", "a"), Body: []byte(`{"properties": {"trigger": {"on": {"subject": "other.orders"}}}}`)}
	if _, err := w.service.Patch(ctx, patch); !errors.Is(err, scheduler.ErrInvalid) {
		t.Errorf("a patch: %v", err)
	}
}
