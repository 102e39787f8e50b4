package worker_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/secrets"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/view"
)

const refers = `"action": {"type": "locked", "door": {"key": {"secretRef": "front"}, "name": "n"}}`

// set sets a shared secret.
func (w *world) set(name, value string) *secrets.SharedSecret {
	w.t.Helper()
	s, _, err := w.service.PutSecret(w.t.Context(), name, []byte(`{"value": "`+value+`"}`))
	w.must(nil, err)
	return s
}

// follow lets the service follow what changes in the store until the returned
// function is called.
func (w *world) follow() (stop func()) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.service.Run(ctx) }()
	return func() {
		w.t.Helper()
		cancel()
		if err := <-ended; err != nil {
			w.t.Error(err)
		}
	}
}

// TestSharedSecret shows that a changed secret counts at the next attempt, with
// a watch and without.
func TestSharedSecret(t *testing.T) {
	for _, watched := range []bool{true, false} {
		t.Run(strconv.FormatBool(watched), func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				if watched {
					defer w.follow()()
				}
				w.set("front", planted)
				v := w.put("job", `{"recurrence": {"frequency": "minute"}, `+refers+`}`)
				if !strings.Contains(string(view.JSON(v)), `"key":{"secretRef":"front"}`) {
					t.Errorf("shown as %s", view.JSON(v))
				}
				time.Sleep(30 * time.Second)
				w.set("front", other)
				time.Sleep(time.Minute)
				if got := w.calls(); got != "n "+planted+", n "+other {
					t.Errorf("the door was told %q", got)
				}
				if v := w.get("job"); v.Job.Generation != 1 {
					t.Errorf("generation %d", v.Job.Generation)
				}
				w.must(nil, w.service.DeleteSecret(t.Context(), "front", true))
				time.Sleep(time.Minute)
				r := w.history("job")
				const want = `shared secret "front": there is none of that name; set it with "carillon secrets set"`
				if got := r[len(r)-1].Message; got != want {
					t.Errorf("recorded %q", got)
				}
			})
		})
	}
}

func TestSharedSecretOfAnotherProcess(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.stopWorker()
		k := newKey(t, "k1")
		w.service = w.newService(k)
		w.startWorker()
		defer w.follow()()
		second := service.New(service.Config{ // its vault is not the worker's
			Store: w.store, Actions: w.actions(),
			Secrets: secrets.NewVault(secrets.Config{Store: w.store.Secrets(), Keys: seal.NewKeyring(k)}),
		})
		for _, value := range []string{planted, other} {
			if _, _, err := second.PutSecret(t.Context(), "front", []byte(`{"value": "`+value+`"}`)); err != nil {
				t.Fatal(err)
			}
			if value == planted {
				w.put("job", `{"recurrence": {"frequency": "minute"}, `+refers+`}`)
			}
			time.Sleep(59 * time.Second)
		}
		if got := w.calls(); got != "n "+planted+", n "+other {
			t.Errorf("the door was told %q", got)
		}
	})
}

func TestSecretsAreListed(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		if all, err := w.service.Secrets(t.Context()); err != nil || len(all) != 0 {
			t.Errorf("got %v, %v", all, err)
		}
		first := w.set("front", planted)
		time.Sleep(time.Hour)
		if s, created, err := w.service.PutSecret(t.Context(), "back", []byte("value: "+planted+"\ndescription: of the back door\n")); err != nil || !created {
			t.Errorf("got %v, %t, %v", s, created, err)
		}
		again := w.set("front", other)
		if !again.Created.Equal(first.Created) || again.Updated.Sub(first.Updated) != time.Hour {
			t.Errorf("set again: %+v", again)
		}
		all, err := w.service.Secrets(t.Context())
		if err != nil || len(all) != 2 {
			t.Fatalf("got %v, %v", all, err)
		}
		got := string(view.JSON(all[0]))
		want := `{"name":"back","description":"of the back door","created":"` + all[0].Created.Format(time.RFC3339Nano) +
			`","updated":"` + all[0].Updated.Format(time.RFC3339Nano) + `","key":"k1"}`
		if got != want || all[1].Name != "front" {
			t.Errorf("got %s, want %s", got, want)
		}
		st, err := w.store.Secrets().Load(t.Context(), "front")
		if err != nil || strings.Contains(string(st.Data), other) || !strings.Contains(string(st.Data), `"sealed":"v1.k1.`) {
			t.Errorf("stored as %s, %v", st.Data, err)
		}
	})
}

func TestSharedSecretProblems(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		tests := map[string]string{
			`{}`:              "value: is required",
			`{"value": null}`: "value: is required",
			`{"value": ""}`:   "value: must not be empty",
			`{"value": {"secretRef": "` + planted + `"}}`:                                      "value: must be a string, not an object",
			`{"value": "` + planted + `", "x": 1}`:                                             "x: unknown field",
			`{"value": "` + strings.Repeat(planted, 1000) + `"}`:                               "value: is 14000 bytes long, at most 12288 are allowed",
			`{"value": "` + planted + `", "description": "` + strings.Repeat("d", 1025) + `"}`: "description: is 1025 bytes long",
			`{"value": "` + planted:                                                            "ends",
			planted:                                                                            "must be an object, not a string",
			strings.Repeat(planted, 2000):                                                      "the document is 28000 bytes long",
			"value: *" + planted:                                                               "no anchor of that name",
		}
		for body, want := range tests {
			_, _, err := w.service.PutSecret(t.Context(), "front", []byte(body))
			if got := problems(t, err); !strings.Contains(got, want) {
				t.Errorf("%.60s: got %s, want %s", body, got, want)
			}
		}
		_, _, err := w.service.PutSecret(t.Context(), "a.b", []byte(`{"value": "`+planted+`"}`))
		if got := problems(t, err); !strings.HasPrefix(got, `secret: "a.b" must not contain '.'`) {
			t.Errorf("got %s", got)
		}
		_, _, err = w.newService().PutSecret(t.Context(), "front", []byte(`{"value": "`+planted+`"}`))
		if got := problems(t, err); got != "value: this scheduler has no key to seal secrets with; start it with --secret-key-file" {
			t.Errorf("got %s", got)
		}
		if err := w.service.DeleteSecret(t.Context(), "nobody", false); !errors.Is(err, scheduler.ErrNotFound) || err.Error() != "secret nobody: not found" {
			t.Errorf("got %v", err)
		}
	})
}

// TestDeleteSecretInUse shows that a secret stays while jobs that may run need it.
func TestDeleteSecretInUse(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.set("front", planted)
		w.put("over", `{`+refers+`}`)
		for _, name := range []string{"f", "e", "d", "c", "b", "a"} {
			w.put(name, `{"startTime": "2099-01-01T00:00:00Z", `+refers+`}`)
		}
		w.put("not", `{"startTime": "2099-01-01T00:00:00Z", "labels": {"secretRef": "front"}, `+locked+`}`)
		time.Sleep(time.Minute)
		err := w.service.DeleteSecret(t.Context(), "front", false)
		const want = "secret front: conflict: jobs refer to it: default/a, default/b, default/c, default/d, default/e and 1 more"
		if !errors.Is(err, scheduler.ErrConflict) || err.Error() != want {
			t.Errorf("got %v", err)
		}
		for _, name := range []string{"f", "e", "d", "c", "b", "a"} {
			w.must(nil, w.service.Delete(t.Context(), key(name), 0))
		}
		if err := w.service.DeleteSecret(t.Context(), "front", false); err != nil {
			t.Errorf("got %v", err)
		}
		if all, err := w.service.Secrets(t.Context()); err != nil || len(all) != 0 {
			t.Errorf("got %v, %v", all, err)
		}
		if _, created, err := w.service.PutSecret(t.Context(), "front", []byte(`{"value": "x"}`)); err != nil || !created {
			t.Errorf("set again after the delete: %t, %v", created, err)
		}
	})
}
