package engine_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// The secrets of these tests, and a job with one of them.
const (
	planted = "pl4nted-s3cret"
	other   = "0ther-s3cret"
	locked  = `"action": {"type": "locked", "door": {"key": "` + planted + `", "name": "n"}}`
)

// raw is a job as it lies in the store.
func (w *harness) raw(name string) string {
	w.t.Helper()
	st := must.Get(w.store.LoadJob(w.t.Context(), key(name)))(w.t)
	return string(st.Data)
}

// patch patches a job.
func (w *harness) patch(name, body string) (*v1.Job, error) {
	w.t.Helper()
	return w.service.Patch(w.t.Context(), control.Edit{Key: key(name), Body: []byte(body)})
}

// calls are what the doors were told, in order.
func (w *harness) calls() string {
	var all []string
	for _, c := range w.sink.seen() {
		all = append(all, strings.TrimSpace(c.url))
	}
	return strings.Join(all, ", ")
}

// problems are those of an error that is one of the input.
func problems(t *testing.T, err error) string {
	t.Helper()
	if !errors.Is(err, scheduler.ErrInvalid) {
		t.Fatalf("got %v, want ErrInvalid", err)
	}
	if strings.Contains(err.Error(), planted) {
		t.Errorf("the error shows the secret: %v", err)
	}
	return err.Error()
}

// TestSecretIsSealed shows that a job's secret reaches its target, and neither
// the store, nor a view, nor the history.
func TestSecretIsSealed(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		v := w.put("job", `{`+locked+`}`)
		if strings.Contains(w.raw("job"), planted) || !strings.Contains(w.raw("job"), `"key":{"$sealed":"v1.k1.`) {
			t.Errorf("stored as %s", w.raw("job"))
		}
		time.Sleep(time.Minute)
		if got := w.calls(); got != "n "+planted {
			t.Errorf("the door was told %q", got)
		}
		if strings.Contains(w.raw("job"), planted) || !strings.Contains(w.raw("job"), `"state":"completed"`) {
			t.Errorf("after its end stored as %s", w.raw("job"))
		}
		for _, shown := range []string{string(v1.JSON(v)), string(v1.JSON(w.get("job"))), v.Job.Def.Document().String()} {
			if strings.Contains(shown, planted) || strings.Contains(shown, "v1.k1") || strings.Contains(shown, `"key"`) {
				t.Errorf("shown as %s", shown)
			}
		}
		if r := w.history("job")[0]; r.Response != "you said ***ok" || strings.Contains(r.Message, planted) {
			t.Errorf("recorded as %q, %q", r.Message, r.Response)
		}
	})
}

// TestPutSecretAgain shows that a definition's secrets count when it is compared
// with the present one.
func TestPutSecretAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		const when = `"startTime": "2099-01-01T00:00:00Z", `
		w.put("job", `{`+when+locked+`}`)
		if v := w.put("job", `{`+when+locked+`}`); v.Job.Generation != 1 {
			t.Errorf("generation %d after the same document", v.Job.Generation)
		}
		v := w.put("job", `{`+when+strings.ReplaceAll(locked, planted, other)+`}`)
		if v.Job.Generation != 2 || v.Job.ScheduleGen != 1 {
			t.Errorf("generation %d, of the schedule %d after a new secret", v.Job.Generation, v.Job.ScheduleGen)
		}
		w.must(w.service.Trigger(t.Context(), key("job")))
		time.Sleep(time.Second)
		if got := w.calls(); got != "n "+other {
			t.Errorf("the door was told %q", got)
		}
	})
}

// TestPatchKeepsSecrets shows that whatever is done to a job, its secrets stay
// unless they are named.
func TestPatchKeepsSecrets(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.put("job", `{"recurrence": {"frequency": "minute"}, `+strings.Replace(locked, `"name"`, `"spare": "spare-key", "name"`, 1)+`}`)
		time.Sleep(30 * time.Second) // between two occurrences
		steps := []struct {
			what string
			do   func() error
			want string
		}{
			{"a patch of something else", func() error { _, err := w.patch("job", `{"description": "d"}`); return err }, "n " + planted + " spare-key"},
			{"a patch beside it", func() error {
				_, err := w.patch("job", `{"properties": {"action": {"door": {"name": "m"}}}}`)
				return err
			}, "m " + planted + " spare-key"},
			{"a patch that removes one", func() error {
				_, err := w.patch("job", `{"action": {"door": {"spare": null}}}`)
				return err
			}, "m " + planted},
			{"a patch that changes one", func() error {
				_, err := w.patch("job", `{"action": {"DOOR": {"KEY": "`+other+`"}}}`)
				return err
			}, "m " + other},
			{"disabling and enabling", func() error {
				if _, err := w.service.Disable(t.Context(), key("job")); err != nil {
					return err
				}
				time.Sleep(2 * time.Minute)
				if _, err := w.patch("job", `{"description": "disabled"}`); err != nil {
					return err
				}
				_, err := w.service.Enable(t.Context(), key("job"))
				return err
			}, "m " + other},
		}
		for _, step := range steps {
			if err := step.do(); err != nil {
				t.Fatalf("%s: %v", step.what, err)
			}
			time.Sleep(time.Minute)
			calls := w.sink.seen()
			if got := strings.TrimSpace(calls[len(calls)-1].url); got != step.want {
				t.Errorf("after %s the door was told %q, want %q", step.what, got, step.want)
			}
			for _, secret := range []string{planted, other, "spare-key"} {
				if strings.Contains(w.raw("job"), secret) {
					t.Errorf("after %s stored as %s", step.what, w.raw("job"))
				}
			}
		}
		if got := problems(t, func() error { _, err := w.patch("job", `{"action": {"door": {"key": null}}}`); return err }()); got != "action.door.key: is required" {
			t.Errorf("got %s", got)
		}
	})
}

// TestSecretProblems has what is wrong with the secrets of a document.
func TestSecretProblems(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.put("there", `{"startTime": "2099-01-01T00:00:00Z", `+locked+`}`)
		const door = `{"action": {"type": "locked", "door": {"name": "n"}}}`
		const hint = "is required; secrets are not shown by get: send it again, or use PATCH"
		put := func(name, body string) error {
			_, _, err := w.service.Put(t.Context(), control.Edit{Key: key(name), Body: []byte(body)})
			return err
		}
		ref := func(name string) string {
			return strings.Replace(locked, `"`+planted+`"`, `{"secretRef": "`+name+`"}`, 1)
		}
		const nobody = `no shared secret is called "nobody"; "carillon secrets set nobody" makes it`
		tests := map[string]struct {
			err  error
			want string
		}{
			"put back as shown":    {put("there", string(v1.JSON(w.get("there")))), "properties.action.door.key: " + hint},
			"put back unwrapped":   {put("there", door), "action.door.key: " + hint},
			"of a new job":         {put("new", door), "action.door.key: is required"},
			"unknown name":         {put("new", `{`+ref("nobody")+`}`), "action.door.key.secretRef: " + nobody},
			"unknown name wrapped": {put("new", `{"properties": {`+ref("nobody")+`}}`), "properties.action.door.key.secretRef: " + nobody},
			"unknown name patched": {func() error {
				_, err := w.patch("there", `{"action": {"door": {"key": {"secretRef": "nobody"}}}}`)
				return err
			}(), "action.door.key.secretRef: " + nobody},
			"a secret for a name": {put("new", `{`+ref(planted+"&sig=")+`}`), "action.door.key.secretRef: is not a name: a letter"},
			"sealed already": {
				put("new", `{"labels": {"$sealed": "v1.k1.AAAA"}, `+locked+`}`),
				"labels.$sealed: a member must not have this name, which the store keeps for itself",
			},
			"every problem": {
				put("new", `{"jitter": "x", `+strings.Replace(ref("nobody"), `"name"`, `"spare": 5, "name"`, 1)+`}`),
				"action.door.spare: must be a string or {\"secretRef\": name}, not a number\njitter: \"x\" is not",
			},
		}
		for name, test := range tests {
			if got := problems(t, test.err); !strings.Contains(got, test.want) || name == "of a new job" && got != test.want {
				t.Errorf("%s: got %s, want %s", name, got, test.want)
			}
		}
		if got := problems(t, tests["every problem"].err); !strings.Contains(got, nobody) {
			t.Errorf("got %s", got)
		}
		keyless := w.newService()
		_, _, err := keyless.Put(t.Context(), control.Edit{Key: key("new"), Body: []byte(`{"properties": {` + locked + `}}`)})
		const want = "properties.action.door.key: this scheduler has no key to seal secrets with; start it with --secret-key-file"
		if got := problems(t, err); got != want {
			t.Errorf("got %s", got)
		}
	})
}

// TestWithoutTheKey shows that a process without the key that a secret was
// sealed with loses nothing, and that attempts fail and say why.
func TestWithoutTheKey(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		k1 := newKey(t, "k1")
		w.service = w.newService(k1)
		w.stopWorker()
		w.put("job", `{"recurrence": {"frequency": "minute"}, `+locked+`}`)
		_, sealed, _ := strings.Cut(w.raw("job"), `{"$sealed":`)
		sealed, _, _ = strings.Cut(sealed, "}")

		w.service = w.newService(newKey(t, "k2"))
		w.startWorker()
		time.Sleep(90 * time.Second)
		const want = "a secret of the job cannot be opened: this process does not have the key it was sealed with"
		if r := w.history("job")[0]; r.Message != want || w.calls() != "" {
			t.Errorf("recorded %q, the door was told %q", r.Message, w.calls())
		}
		if w.get("job").Job.State != scheduler.Enabled {
			t.Error("the job cannot be got")
		}
		w.must(w.patch("job", `{"description": "d"}`))
		w.must(w.service.Disable(t.Context(), key("job")))
		w.must(w.service.Enable(t.Context(), key("job")))
		if got := w.raw("job"); !strings.Contains(got, sealed) || !strings.Contains(got, `"generation":4`) {
			t.Errorf("stored as %s", got)
		}
		w.stopWorker()
		w.service = w.newService(k1)
		w.startWorker()
		time.Sleep(2 * time.Minute)
		if got := w.calls(); !strings.HasPrefix(got, "n "+planted) {
			t.Errorf("with the key back the door was told %q", got)
		}
	})
}

// lockedReader reads actions of the type Locked: a target that wants a secret,
//
//	{"type": "Locked", "door": {"key": "…", "spare": "…", "name": "…"}}
//
// of which only spare need not be given. It shows every attempt, as a call to
// the URL "name key spare", and answers with what it was given, as a careless
// target does.
type lockedReader struct{ sink *sink }

func (r lockedReader) Types() []string { return []string{"Locked"} }

func (r lockedReader) ReadAction(_ string, o *document.Object) scheduler.Action {
	if !o.Require("door") {
		return nil
	}
	door, ok := o.Object("door")
	if !ok {
		return nil
	}
	defer door.Done()
	a := &lockedAction{sink: r.sink}
	door.Require("key")
	a.key, _ = door.Secret("key")
	a.spare, _ = door.Secret("spare")
	a.name, _ = door.String("name")
	return a
}

type lockedAction struct {
	sink       *sink
	key, spare document.Secret
	name       string
}

func (a *lockedAction) Target() string { return "door" }

func (a *lockedAction) Invoke(_ context.Context, attempt scheduler.Attempt) scheduler.Result {
	key, err := attempt.Reveal(a.key)
	if err != nil {
		return scheduler.Result{Failed: true, Message: err.Error()}
	}
	spare, err := attempt.Reveal(a.spare)
	if err != nil {
		return scheduler.Result{Failed: true, Message: err.Error()}
	}
	status, body := a.sink.note(&call{url: a.name + " " + key + " " + spare, key: attempt.Key})
	return scheduler.Result{
		Failed: status != http.StatusOK, Status: status, Message: "Locked Action - the door said: you said " + key + body,
		Response: "you said " + key + body,
	}
}

// TestCompositeSecrets shows that the secrets of all errorActions are sealed, not shown, not lost by a put that leaves them out,
// and not sent elsewhere by a patch.
func TestCompositeSecrets(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.set("tenant", "north")
		withKey := func(host, key, rest string) string {
			return `{"type": "Http", "request": {"uri": "http://` + host + `.example/", "method": "POST", "headers": {"X-Api-Key": ` + key + `}}` + rest + `}`
		}
		const secret = `"` + planted + `"`
		body := func(first, inner, second string) string {
			return `{"startTime": "2099-01-01T00:00:00Z", "action": ` + withKey("main", secret, `, "errorAction": [`+
				withKey("first", first, `, "errorAction": `+withKey("inner", inner, ""))+`,`+withKey("second", second, "")+`]`) + `}`
		}
		all := body(secret, secret, secret)
		v := w.put("job", all)
		if raw := w.raw("job"); strings.Count(raw, "$sealed") != 4 || strings.Contains(raw, planted) {
			t.Errorf("stored as %s", raw)
		}
		if shown := string(v1.JSON(v)); strings.Contains(shown, planted) {
			t.Errorf("shown as %s", shown)
		}
		const inner = `"X-Api-Key": "` + planted + `"}}}`
		for without, want := range map[string]string{
			strings.Replace(all, inner, `}}}`, 1):                                                             "action.errorAction[0].errorAction.request.headers.X-Api-Key",
			all[:strings.LastIndex(all, `"X-Api-Key"`)] + `}}}]}}`:                                            "action.errorAction[1].request.headers.X-Api-Key",
			strings.Replace(all, `"X-Api-Key": "`+planted+`"}}, "errorAction": {`, `}}, "errorAction": {`, 1): "action.errorAction[0].request.headers.X-Api-Key",
		} {
			_, _, err := w.service.Put(t.Context(), control.Edit{Key: key("job"), Body: []byte(without)})
			if got := problems(t, err); !strings.HasPrefix(got, want+": is a secret that the job has") || strings.Contains(got, "\n") {
				t.Errorf("%s: got %q, want %s", without, got, want)
			}
		}
		if _, err := w.patch("job", `{"action": {"request": {"uri": "http://evil.example/"}}}`); !strings.HasPrefix(problems(t, err), "action.request.headers.X-Api-Key: belongs to") {
			t.Errorf("a patch of the main action: %v", err)
		}
		if v := w.put("job", all); v.Job.Generation != 1 {
			t.Errorf("put again as it was: generation %d", v.Job.Generation)
		}
		w.put("job", body(`null`, `{"secretRef": "tenant"}`, `"new"`))
		single := `{"startTime": "2099-01-01T00:00:00Z", "action": ` + withKey("main", secret, `, "errorAction": `+withKey("first", secret, `, "errorAction": `+withKey("inner", secret, ""))) + `}`
		w.put("job", single)
		_, err := w.patch("job", `{"action": {"errorAction": {"errorAction": {"request": {"uri": "http://evil.example/"}}}}}`)
		if got := problems(t, err); !strings.HasPrefix(got, "action.errorAction.errorAction.request.headers.X-Api-Key: belongs to http://inner.example") {
			t.Errorf("a patch of the innermost: %q", got)
		}
		if _, err := w.patch("job", `{"action": {"errorAction": {"request": {"uri": "http://elsewhere.example/", "headers": {"X-Api-Key": "mine"}}}}}`); err != nil {
			t.Errorf("a patch that brings its own: %v", err)
		}
	})
}
