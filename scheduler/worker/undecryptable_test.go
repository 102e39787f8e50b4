package worker_test

import (
	"encoding/json"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/view"
)

// TestUnopened shows that an audit tells of secrets that this process has not the key for, and that one which is broken
// keeps nobody from seeing the others.
func TestUnopened(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		const later = `{"startTime": "2099-01-01T00:00:00Z", `
		lost, same := newKey(t, "k1"), newKey(t, "k1") // two keys of one id, as those of two machines may be
		audit := func() string {
			t.Helper()
			rep, err := w.service.Audit(t.Context(), true)
			w.must(nil, err)
			data, err := json.Marshal(rep.Undecryptable)
			w.must(nil, err)
			return string(data)
		}
		w.process(newKey(t, "old"))
		w.set("a", planted)
		w.set("b", planted)
		w.put("first", later+locked+`}`)
		w.process(lost)
		w.put("second", later+locked+`}`)
		w.must(w.store.Secrets().Save(t.Context(), "broken", []byte(`{"sealed`), 0))
		w.process(same)
		w.put("third", later+locked+`}`)
		const want = `[{"key":"","reason":"what is stored of it cannot be read: unexpected end of JSON input","secrets":1,"jobs":0,"example":"secret broken"},` +
			`{"key":"k1","reason":"the sealed text is damaged, or was sealed for another place","secrets":0,"jobs":1,"example":"job default/second"},` +
			`{"key":"old","reason":"it cannot be opened: the key is not known here: it was sealed with key \"old\"","secrets":2,"jobs":1,"example":"secret a"}]`
		if got := audit(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		all, err := w.service.Secrets(t.Context())
		if err != nil || len(all) != 3 || all[0].Name != "a" || all[2].Name != "broken" {
			t.Errorf("listed %v, %v", all, err)
		} else if got := string(view.JSON(all[2])); got != `{"name":"broken","problem":"what is stored of it cannot be read: unexpected end of JSON input"}` {
			t.Errorf("shown as %s", got)
		}
		w.set("broken", planted)
		for _, name := range []string{"a", "b"} {
			w.set(name, planted)
		}
		for _, name := range []string{"first", "second"} {
			w.must(nil, w.service.Delete(t.Context(), key(name), 0))
		}
		if got := audit(); got != "[]" {
			t.Errorf("when all were set again: %s", got)
		}
	})
}
