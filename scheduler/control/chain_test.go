package control_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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
		job, fields string
		want        string // error or warning
	}
	on := func(listeners string) string { return `"trigger": {"on": ` + listeners + `}` }
	chain := []put{
		{"a", on(`{"source": "orders"}`), ""}, {"b", on(`{"job": "a"}`), ""}, {"other/c", on(`{"job": "default/b"}`), ""},
	}
	named := []put{{"c", `"trigger": {}`, ""}, {"b", on(`{"source": "orders"}`) + `, "onSuccess": ["c"]`, ""}}
	for name, c := range map[string]struct {
		puts []put
		last put
	}{
		"no cycle": {chain, put{"d", on(`[{"job": "b"}, {"job": "other/c"}]`), ""}},
		"itself": {nil, put{
			"a", on(`[{"job": "a"}]`),
			"trigger.on[0].job: closes a cycle: a → a; set trigger.maxDepth to allow it",
		}},
		"two jobs": {chain[:2], put{
			"a", on(`[{"job": "b"}]`),
			"trigger.on[0].job: closes a cycle: a → b → a; set trigger.maxDepth to allow it",
		}},
		"across collections": {chain, put{
			"a", on(`[{"source": "orders"}, {"job": "other/c"}]`),
			"trigger.on[1].job: closes a cycle: a → b → other/c → a; set trigger.maxDepth to allow it",
		}},
		"one listener": {chain[:2], put{
			"a", on(`{"job": "b"}`),
			"trigger.on.job: closes a cycle: a → b → a; set trigger.maxDepth to allow it",
		}},
		"allowed": {chain[:2], put{"a", `"trigger": {"on": {"job": "b"}, "maxDepth": 5}`, ""}},
		"waits for a job that follows it": {chain[:2], put{
			"a", on(`{"source": "orders"}`) + `, "recurrence": {"frequency": "Day"}, "onlyIf": {"job": "b", "since": "PT1H", "waitUpTo": "PT1H"}`, "",
		}},
		"follows a job that it waits for": {append(chain[:2:2], put{
			"a", `"recurrence": {"frequency": "Day"}, "onlyIf": {"job": "b", "since": "PT1H", "waitUpTo": "PT1H"}`, "",
		}), put{
			"a", on(`{"job": "b"}`) + `, "recurrence": {"frequency": "Day"}, "onlyIf": {"job": "b", "since": "PT1H", "waitUpTo": "PT1H"}`,
			"trigger.on.job: closes a cycle: a → b → a; set trigger.maxDepth to allow it",
		}},
		"allowed before": {append(chain[:2:2], put{"a", `"trigger": {"on": {"job": "b"}, "maxDepth": 5}`, ""}), put{
			"a", on(`{"job": "b"}`),
			"trigger.on.job: closes a cycle: a → b → a; set trigger.maxDepth to allow it",
		}},
		"missing": {nil, put{
			"a", on(`[{"job": "b"}, {"job": "gone"}]`),
			"trigger.on[0].job: job default/b does not exist yet",
		}},
		"names a missing job": {nil, put{
			"a", `"onSuccess": ["b"]`,
			"onSuccess[0]: job default/b does not exist yet",
		}},
		"names jobs": {chain, put{"d", `"onSuccess": ["b"], "onFailure": ["other/c"]`, ""}},
		"names a one-shot": {[]put{{"b", `"startTime": "2090-01-01T00:00:00Z"`, ""}}, put{
			"a", `"onSuccess": ["b"]`,
			"onSuccess[0]: job default/b runs once and is then completed: give it a trigger, {}, so that others can start it",
		}},
		"names itself": {nil, put{
			"a", `"onFailure": ["a"]`,
			"onFailure[0]: closes a cycle: a → a; set trigger.maxDepth to allow it",
		}},
		"names a job that named ones follow": {append(named, put{"other/d", on(`{"job": "default/c"}`), ""}), put{
			"other/d", on(`{"job": "default/c"}`) + `, "onSuccess": ["default/b"]`,
			"trigger.on.job: closes a cycle: d → default/b → default/c → d; set trigger.maxDepth to allow it",
		}},
		"names a job that names it": {named, put{
			"c", `"trigger": {}, "onSuccess": ["other/x", "b"]`,
			"onSuccess[1]: closes a cycle: b → c → b; set trigger.maxDepth to allow it",
		}},
		"names a job that names it, allowed": {named, put{"c", `"trigger": {"maxDepth": 5}, "onSuccess": ["b"]`, ""}},
		"follows a job that a named one follows": {append(named, put{"d", on(`{"job": "c"}`), ""}), put{
			"b", on(`[{"source": "orders"}, {"job": "d"}]`) + `, "onSuccess": ["c"]`,
			"trigger.on[1].job: closes a cycle: b → c → d → b; set trigger.maxDepth to allow it",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newHarness(t)
			w.collection("other", `{}`)
			for _, p := range slices.Concat(c.puts, []put{c.last}) {
				body := `{"action": {"type": "http", "request": {"uri": "http://target.test/", "method": "GET"}}, ` + p.fields + `}`
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

// cutStore is a store whose registry cannot be read.
type cutStore struct{ scheduler.Store }

func (s cutStore) Listeners() scheduler.Bucket { return cutBucket{s.Store.Listeners()} }

type cutBucket struct{ scheduler.Bucket }

func (cutBucket) Since(context.Context, uint64, func(string, uint64, []byte)) (uint64, error) {
	return 0, scheduler.ErrUnavailable
}

// readStore is a store that counts the reads of the registry.
type readStore struct {
	scheduler.Store

	reads *int
}

func (s readStore) Listeners() scheduler.Bucket { return readBucket{s.Store.Listeners(), s.reads} }

type readBucket struct {
	scheduler.Bucket

	reads *int
}

func (b readBucket) Since(ctx context.Context, after uint64, changed func(string, uint64, []byte)) (uint64, error) {
	*b.reads++
	return b.Bucket.Since(ctx, after, changed)
}

// TestCycleReads puts a job: only links to further jobs have the registry read.
func TestCycleReads(t *testing.T) {
	w := newHarness(t)
	reads := 0
	service := w.over(readStore{w.store, &reads})
	for i, step := range []struct {
		fields string
		reads  bool
	}{
		{`"onSuccess": ["b"]`, true},
		{`"onSuccess": ["b"], "description": "edited"`, false},
		{`"onSuccess": ["b"], "onlyIf": {"job": "c", "since": "PT1H"}`, false},
		{`"onSuccess": ["b"], "onFailure": ["c"]`, true},
		{`"onSuccess": ["c"]`, false},
		{`"trigger": {"on": {"job": "c"}}`, true},
	} {
		before := reads
		body := `{"action": {"type": "http", "request": {"uri": "http://target.test/", "method": "GET"}}, ` + step.fields + `}`
		_, _, err := service.Put(t.Context(), control.Edit{Key: scheduler.KeyIn("", "a"), Body: []byte(body)})
		must.Do(t, err)
		if got := reads - before; got > 0 != step.reads {
			t.Errorf("step %d: %d reads", i, got)
		}
	}
}

// restoredStore is a store whose registry is restored after each read.
type restoredStore struct{ scheduler.Store }

func (s restoredStore) Listeners() scheduler.Bucket { return restoredBucket{s.Store.Listeners()} }

type restoredBucket struct{ scheduler.Bucket }

func (b restoredBucket) Since(ctx context.Context, after uint64, changed func(string, uint64, []byte)) (uint64, error) {
	if after > 0 {
		return after - 1, nil
	}
	return b.Bucket.Since(ctx, 0, changed)
}

// TestCycleOfOthers closes a cycle with jobs that another process has stored, and with one that is deleted.
func TestCycleOfOthers(t *testing.T) {
	w := newHarness(t)
	put := func(on *control.Service, job, fields string) string {
		body := `{"action": {"type": "http", "request": {"uri": "http://target.test/", "method": "GET"}}, ` + fields + `}`
		_, _, err := on.Put(t.Context(), control.Edit{Key: scheduler.KeyIn("", job), Body: []byte(body)})
		if errors.Is(err, scheduler.ErrInvalid) {
			return scheduler.ProblemsIn(err)[0].Message
		}
		must.Do(t, err)
		return ""
	}
	const closes = "closes a cycle: a → b → a; set trigger.maxDepth to allow it"
	for name, service := range map[string]*control.Service{"changed": w.over(w.store), "restored": w.over(restoredStore{w.store})} {
		t.Run(name, func(t *testing.T) {
			put(service, "z", `"trigger": {"on": {"job": "y"}}`)
			put(w.service, "a", `"trigger": {}, "onSuccess": ["b"]`)
			if got := put(service, "b", `"onSuccess": ["a"]`); got != closes {
				t.Errorf("the put says %q", got)
			}
			for _, job := range []string{"a", "z"} {
				must.Do(t, w.service.Delete(t.Context(), scheduler.KeyIn("", job), 0))
			}
			if got := put(service, "b", `"onSuccess": ["a"]`); got != "" {
				t.Errorf("after the delete, the put says %q", got)
			}
			must.Do(t, w.service.Delete(t.Context(), scheduler.KeyIn("", "b"), 0))
		})
	}
}

// TestCycleUnknown puts a job that another one may start, while the registry cannot be read: the put is refused.
func TestCycleUnknown(t *testing.T) {
	w := newHarness(t)
	body := `{"action": {"type": "http", "request": {"uri": "http://target.test/", "method": "GET"}}, "onSuccess": ["b"]}`
	_, _, err := w.over(cutStore{w.store}).Put(t.Context(), control.Edit{Key: scheduler.KeyIn("", "a"), Body: []byte(body)})
	if !errors.Is(err, scheduler.ErrUnavailable) {
		t.Errorf("the put says %v", err)
	}
}

// TestLinksElsewhere puts jobs that listen to other collections, or start jobs in them: the caller needs the rights for
// that, but only for links that are new.
func TestLinksElsewhere(t *testing.T) {
	w := newHarness(t)
	w.collection("other", `{}`)
	ctx := auth.With(t.Context(), &auth.Principal{Grants: []auth.Grant{
		{Role: auth.Operator, Collections: []string{"default"}}, {Role: auth.Reader, Collections: []string{"seen"}},
	}})
	put := func(ctx context.Context, job, on string) error {
		body := `{"action": {"type": "http", "request": {"uri": "http://target.test/", "method": "GET"}}, "trigger": {"on": ` + on + `}}`
		if strings.HasPrefix(on, `"on`) {
			body = `{"action": {"type": "http", "request": {"uri": "http://target.test/", "method": "GET"}}, ` + on + `}`
		}
		_, _, err := w.service.Put(ctx, control.Edit{Key: scheduler.KeyIn("", job), Body: []byte(body)})
		return err
	}
	must.Do(t, put(t.Context(), "old", `{"subject": "other.orders"}`))
	must.Do(t, put(t.Context(), "naming", `"onSuccess": ["seen/c"]`))
	for _, test := range []struct{ job, on, path string }{
		{"a", `[{"source": "orders"}, {"subject": "default.orders"}, {"job": "old"}]`, ""},
		{"a", `[{"source": "orders"}, {"subject": "other.orders"}]`, "trigger.on[1].subject"},
		{"b", `{"job": "other/c"}`, "trigger.on.job"},
		{"b", `{"job": "absent/c"}`, "trigger.on.job"},
		{"old", `[{"source": "more"}, {"subject": "other.orders"}]`, ""},
		{"old", `[{"subject": "other.refunds"}]`, "trigger.on[0].subject"},
		{"c", `"onSuccess": ["a"], "onFailure": ["b", "seen/c"]`, "onFailure[1]"},
		{"naming", `"onSuccess": ["a", "seen/c"]`, ""},
		{"naming", `"onSuccess": ["a", "seen/c", "seen/d"]`, "onSuccess[2]"},
	} {
		err := put(ctx, test.job, test.on)
		var want string
		if test.path != "" {
			want = test.path + ": the collection does not exist, or you may not read it: listening needs its role reader"
		}
		if strings.HasPrefix(test.path, "on") {
			want = test.path + ": the collection does not exist, or you may not run its jobs: starting them needs its role operator"
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

// TestOnlyIfJob puts jobs with a condition on other jobs, which may be missing, or of a collection that the caller may not
// read.
func TestOnlyIfJob(t *testing.T) {
	w := newHarness(t)
	w.collection("other", `{}`)
	ctx := auth.With(t.Context(), &auth.Principal{Grants: []auth.Grant{{Role: auth.Operator, Collections: []string{"default"}}}})
	put := func(ctx context.Context, name, job, more string) string {
		body := `{"action": {"type": "http", "request": {"uri": "http://target.test/", "method": "GET"}}` + more + `}`
		if job != "" {
			body = strings.Replace(body, "}}", `}}, "onlyIf": {"job": "`+job+`", "since": "PT1H"}`, 1)
		}
		v, _, err := w.service.Put(ctx, control.Edit{Key: scheduler.KeyIn("", name), Body: []byte(body)})
		switch {
		case err != nil:
			return scheduler.ProblemsIn(err)[0].Error()
		case len(v.Warnings) > 0:
			return v.Warnings[0].Path + ": " + v.Warnings[0].Message
		}
		return ""
	}
	const hidden = "onlyIf.job: the collection does not exist, or you may not read it: listening needs its role reader"
	for _, row := range []struct {
		ctx                   context.Context //nolint:containedctx // of the row's caller
		name, job, more, want string
	}{
		{ctx, "a", "b", "", "onlyIf.job: job default/b does not exist yet"},
		{ctx, "b", "a", "", ""}, // each depends on the other, which starts none
		{ctx, "b", "a", `, "trigger": {"on": {"source": "c"}}`, "onlyIf: has no effect: only events start the job, and they ignore it"},
		{ctx, "b", "b", "", "onlyIf.job: job default/b is this job: it waits for its own end, and runs only after a manual run"},
		{ctx, "c", "other/c", "", hidden},
		{t.Context(), "c", "other/c", "", "onlyIf.job: job other/c does not exist yet"},
		{ctx, "c", "other/c", `, "timeout": "PT5S"`, "onlyIf.job: job other/c does not exist yet"},
		{ctx, "c", "other/d", "", hidden},
	} {
		if got := put(row.ctx, row.name, row.job, row.more); got != row.want {
			t.Errorf("%s, only if %s: %q, want %q", row.name, row.job, got, row.want)
		}
	}
}
