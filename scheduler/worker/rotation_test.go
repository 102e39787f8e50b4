package worker_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
)

// rotate rotates and returns what the doors answer.
func (w *world) rotate() string {
	w.t.Helper()
	r, err := w.service.RotateSecrets(w.t.Context())
	w.must(nil, err)
	data, err := json.Marshal(r)
	w.must(nil, err)
	return string(data)
}

// process starts over with other keys, as a scheduler does that is restarted.
func (w *world) process(keys ...seal.Key) {
	w.t.Helper()
	w.stopWorker()
	w.service = w.newService(keys...)
	w.startWorker()
}

// TestRotation shows that everything is sealed with the new key afterwards, and
// that the jobs go on as if nothing had been.
func TestRotation(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		k1, k2 := newKey(t, "k1"), newKey(t, "k2")
		w.process(k1)
		w.set("front", other)
		w.put("plain", `{"startTime": "2099-01-01T00:00:00Z", `+action+`}`)
		w.put("own", `{"recurrence": {"frequency": "minute"}, `+locked+`}`)
		w.put("shared", `{"recurrence": {"frequency": "minute"}, `+refers+`}`)
		w.put("over", `{`+locked+`}`)
		w.put("disabled", `{"state": "disabled", `+locked+`}`)
		time.Sleep(90 * time.Second)
		before := w.get("own")

		w.process(k2, k1)
		if got, want := w.rotate(), `{"key":"k2","jobs":3,"secrets":1,"skipped":0,"failures":0,"failed":[]}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got, want := w.rotate(), `{"key":"k2","jobs":0,"secrets":0,"skipped":4,"failures":0,"failed":[]}`; got != want {
			t.Errorf("repeated: got %s, want %s", got, want)
		}
		after := w.get("own")
		if after.Job.Generation != 1 || !after.Job.Updated.Equal(before.Job.Updated) || after.Status != before.Status {
			t.Errorf("the job was %+v and is %+v", before.Status, after.Status)
		}

		w.process(k2)
		n := len(w.sink.seen())
		time.Sleep(2 * time.Minute)
		if got := len(w.sink.seen()) - n; got != 4 {
			t.Errorf("%d calls in two minutes", got)
		}
		w.wantHistory("own", "completed completed completed completed")
		for _, name := range []string{"own", "over", "disabled"} {
			if raw := w.raw(name); strings.Contains(raw, planted) || !strings.Contains(raw, `"v1.k2.`) {
				t.Errorf("stored as %s", raw)
			}
		}
		w.mustBeInOrder()
	})
}

// TestRotationBetweenRetries shows that an occurrence under way goes on with
// the new key alone.
func TestRotationBetweenRetries(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		k1, k2 := newKey(t, "k1"), newKey(t, "k2")
		w.process(k1)
		w.sink.answers(func(c *call) (int, string) {
			if c.n == 0 {
				return http.StatusInternalServerError, ""
			}
			return http.StatusOK, ""
		})
		w.put("job", `{`+strings.TrimSuffix(locked, "}")+`, "retryPolicy": {"retryType": "fixed", "retryInterval": "PT1M", "retryCount": 1}}}`)
		time.Sleep(10 * time.Second)
		w.process(k2, k1)
		w.rotate()
		w.process(k2)
		time.Sleep(2 * time.Minute)
		if got, want := w.calls(), "n "+planted+", n "+planted; got != want {
			t.Errorf("the door was told %q, want %q", got, want)
		}
	})
}

// TestRotationKeepsExpiry shows that a job that is over does not live longer.
func TestRotationKeepsExpiry(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		k1, k2 := newKey(t, "k1"), newKey(t, "k2")
		w.process(k1)
		w.put("over", `{`+locked+`}`)
		time.Sleep(30 * time.Minute) // of two hours
		w.process(k2, k1)
		w.rotate()
		if w.get("over").Job.State != scheduler.Completed {
			t.Error("it is not over")
		}
		time.Sleep(91 * time.Minute)
		if _, err := w.service.Get(t.Context(), key("over")); !errors.Is(err, scheduler.ErrNotFound) {
			t.Errorf("after its time: %v", err)
		}
	})
}

// TestRotationFailures shows that what cannot be opened is told and left alone,
// and that the rest is rotated.
func TestRotationFailures(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		const later = `{"startTime": "2099-01-01T00:00:00Z", `
		lost, k2, k3 := newKey(t, "lost"), newKey(t, "k2"), newKey(t, "k3")
		w.process(lost)
		w.set("gone", planted)
		w.put("gone", later+locked+`}`)
		w.process(k2)
		w.put("half", later+strings.Replace(locked, `"name"`, `"spare": "`+other+`", "name"`, 1)+`}`)
		w.put("kept", later+locked+`}`)
		half := strings.Replace(w.raw("half"), `"key":{"$sealed":"v1.k2.`, `"key":{"$sealed":"v1.lost.`, 1)
		st, err := w.store.LoadJob(t.Context(), key("half"))
		w.must(nil, err)
		w.must(w.store.SaveJob(t.Context(), key("half"), []byte(half), st.Revision, false))
		if _, err := w.store.Secrets().Save(t.Context(), "broken", []byte(`{"sealed`), 0); err != nil {
			t.Fatal(err)
		}
		w.set("fake", planted)
		st, err = w.store.Secrets().Load(t.Context(), "fake")
		w.must(nil, err)
		fake := strings.Replace(string(st.Data), "v1.k2.", "v1.k3.", 1) // as a key of the same id seals it
		w.must(w.store.Secrets().Save(t.Context(), "fake", []byte(fake), st.Revision))
		w.process(k3, k2)
		const why = `the key is not known here: it was sealed with key \"lost\""`
		want := `{"key":"k3","jobs":1,"secrets":0,"skipped":0,"failures":5,"failed":[` +
			`{"job":"default/gone","reason":"action.door.key: ` + why + `},{"job":"default/half","reason":"action.door.key: ` + why +
			`},{"secret":"broken","reason":"what is stored of it cannot be read: unexpected end of JSON input"},` +
			`{"secret":"fake","reason":"it cannot be opened: the sealed text is damaged, or was sealed for another place"},` +
			`{"secret":"gone","reason":"it cannot be opened: ` + why + `}]}`
		if got := w.rotate(); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
		if raw := w.raw("half"); strings.Count(raw, "v1.k3.") != 1 || strings.Count(raw, "v1.lost.") != 1 {
			t.Errorf("stored as %s", raw)
		}
		if _, err := w.newService().RotateSecrets(t.Context()); !errors.Is(err, scheduler.ErrConflict) {
			t.Errorf("without a key: %v", err)
		}
	})
}
