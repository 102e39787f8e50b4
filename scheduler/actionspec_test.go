package scheduler_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler"
)

// act is an action without retries; rest holds further fields.
func act(target, rest string) string {
	return `{"type": "None", "target": "` + target + `", "retryPolicy": {"retryType": "none"}` + rest + `}`
}

// onError is the errorAction field of an action.
func onError(actions string) string { return `, "errorAction": ` + actions }

// handled is a one-shot whose main action has these errorActions.
func handled(t *testing.T, errorActions string) *scheduler.Job {
	t.Helper()
	return job(t, `"action": `+act("main", errorActions)+`, `+once)
}

// TestErrorActionsRunInOrder checks the actions of an occurrence and their keys, by which of them fail. The
// errorActions of a list run regardless of the results before them; nested errorActions run if their action fails.
func TestErrorActionsRunInOrder(t *testing.T) {
	one := onError(act("a", ""))
	list := onError("[" + act("a", "") + "," + act("b", "") + "," + act("c", "") + "]")
	chain := onError(act("a", onError(act("b", onError(act("c", ""))))))
	tree := onError("[" + act("a", onError("["+act("b", "")+","+act("c", onError(act("d", "")))+"]")) + "," + act("e", "") + "]")
	for _, row := range []struct{ name, errorActions, fail, want string }{
		{"none, and it failed", "", "main", "main"},
		{"one, and it is not needed", one, "", "main"},
		{"one", one, "main", "main a/error"},
		{"one that fails", one, "main a", "main a/error"},
		{"one in a list", onError("[" + act("a", "") + "]"), "main", "main a/error"},
		{"a list", list, "main", "main a/error b/error-2 c/error-3"},
		{"a list whose first fails", list, "main a", "main a/error b/error-2 c/error-3"},
		{"a list that fails", list, "main a b c", "main a/error b/error-2 c/error-3"},
		{"a chain whose first helps", chain, "main", "main a/error"},
		{"a chain whose second helps", chain, "main a", "main a/error b/error-2"},
		{"a chain that fails", chain, "main a b c", "main a/error b/error-2 c/error-3"},
		{"a tree whose first helps", tree, "main", "main a/error e/error-5"},
		{"a tree whose first fails", tree, "main a", "main a/error b/error-2 c/error-3 e/error-5"},
		{"a tree whose branch fails", tree, "main a b c", "main a/error b/error-2 c/error-3 d/error-4 e/error-5"},
		{"a tree that fails", tree, "main a b c d e", "main a/error b/error-2 c/error-3 d/error-4 e/error-5"},
	} {
		for _, crash := range []bool{false, true} {
			j := handled(t, row.errorActions)
			s := &story{t: t, job: j, now: at("09:00:00"), baton: baton(j, "09:00:00")}
			for try := 1; ; try++ {
				if try > 9 {
					t.Fatalf("%s: it never ends", row.name)
				}
				b := s.baton
				a := b.AttemptOf(key)
				if a.Try != try || b.Attempt != 0 || a.Phase == scheduler.ErrorPhase && (a.Failure == nil || a.Failure.Message != "main failed") {
					t.Errorf("%s: attempt %+v of %+v", row.name, a, b)
				}
				target := j.Def.Action.In(b.Position()).Run.Target()
				res := succeeds
				if strings.Contains(" "+row.fail+" ", " "+target+" ") {
					res = scheduler.Result{Failed: true, Message: target + " failed"}
				}
				s.attempt(res, crash)
				if s.baton.Try == b.Try {
					break
				}
			}
			var calls []string
			for _, r := range s.history {
				b := baton(j, "09:00:00", func(b *scheduler.Baton) { b.Phase, b.ErrorAction = r.Phase, r.ErrorAction })
				_, suffix, _ := strings.Cut(b.AttemptOf(key).Key, "Z")
				calls = append([]string{r.Target + suffix}, calls...)
			}
			if got := strings.Join(calls, " "); got != row.want {
				t.Errorf("%s, crash %t: %s, want %s", row.name, crash, got, row.want)
			}
			if failed := row.fail != ""; (s.faulted != nil) != failed {
				t.Errorf("%s, crash %t: faulted %v", row.name, crash, s.faulted)
			}
		}
	}
}

// TestErrorActionsRetry checks that an errorAction without a retry policy inherits that of its action.
func TestErrorActionsRetry(t *testing.T) {
	const twice = `"retryPolicy": {"retryType": "fixed", "retryInterval": "PT10S", "retryCount": 1}`
	j := job(t, `"action": {"type": "None", "target": "main", "retryPolicy": {"retryType": "none"}, "errorAction": [
		{"type": "None", "target": "a", `+twice+`, "errorAction": {"type": "None", "target": "b"}}, {"type": "None", "target": "c"}]}, `+once)
	s := &story{t: t, job: j, now: at("09:00:00"), baton: baton(j, "09:00:00")}
	var got []string
	for s.faulted == nil {
		b := s.baton
		s.attempt(scheduler.Result{Failed: true}, false)
		got = append(got, fmt.Sprintf("%s %d %s %s", s.history[0].Target, s.history[0].Attempt, clock(b.Due), s.history[0].Path))
	}
	want := []string{
		"main 0 09:00:00 ", "a 0 09:00:00 action.errorAction[0]", "a 1 09:00:10 action.errorAction[0]",
		"b 0 09:00:10 action.errorAction[0].errorAction", "b 1 09:00:20 action.errorAction[0].errorAction", "c 0 09:00:20 action.errorAction[1]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("(-want +got)\n" + diff)
	}
}

// TestErrorActionNoLongerKept checks that a position beyond the last errorAction, from a definition that is no longer
// stored, resolves to the last one.
func TestErrorActionNoLongerKept(t *testing.T) {
	for errorActions, want := range map[string]string{
		"": "main", onError(act("a", "")): "a", onError("[" + act("a", "") + "," + act("b", "") + "]"): "b",
	} {
		action := handled(t, errorActions).Def.Action
		p := scheduler.Position{Phase: scheduler.ErrorPhase, ErrorAction: 3}
		if got := action.In(p).Run.Target(); got != want {
			t.Errorf("%q: %s, want %s", errorActions, got, want)
		}
		for _, failed := range []bool{false, true} {
			if next, ok := action.After(p, failed); ok {
				t.Errorf("%q: %+v follows", errorActions, next)
			}
		}
	}
}

// TestWrongErrorActions checks the paths of problems.
func TestWrongErrorActions(t *testing.T) {
	six := strings.TrimSuffix(strings.Repeat(act("a", "")+",", 6), ",")
	deep := ""
	for range 6 {
		deep = onError(act("a", deep))
	}
	for errorActions, want := range map[string]string{
		onError(`[]`):            "action.errorAction: must not be empty: leave it out, or name what is to be done",
		onError(`"mail"`):        "action.errorAction: must be an object, or an array of objects, not a string",
		onError(`["mail"]`):      "action.errorAction[0]: must be an object, not a string",
		onError("[" + six + "]"): "action.errorAction: the job has more than 5 errorActions in all",
		deep:                     "action" + strings.Repeat(".errorAction", 6) + ": the job has more than 5 errorActions in all",
		onError("[" + act("a", "") + `, {"target": "b"}]`):                                        "action.errorAction[1].type: is required",
		onError("[" + act("a", onError("["+act("b", `, "colour": "red"`)+"]")) + "]"):             "action.errorAction[0].errorAction[0].colour: unknown field",
		onError(act("a", onError(`{"type": "None", "retryPolicy": {"retryInterval": 7}}`))):       "action.errorAction.errorAction.retryPolicy.retryInterval: ",
		onError("[" + act("a", onError("["+act("b", "")+","+act("c", "")+"]")) + "," + six + "]"): "action.errorAction: the job has more than 5 errorActions in all",
	} {
		_, err := decoder("08:00:00").Definition(parseDocument(t, `{"action": `+act("main", errorActions)+`}`))
		if problems := scheduler.ProblemsIn(err); len(problems) != 1 || !strings.HasPrefix(problems[0].Error(), want) {
			t.Errorf("%s: %v, want %s", errorActions, err, want)
		}
	}
	five := onError("[" + act("a", onError(act("b", ""))) + strings.Repeat(","+act("c", ""), 3) + "]")
	if n := len(handled(t, five).Def.Action.OnError); n != 4 {
		t.Errorf("five in all are read as %d", n)
	}
}
