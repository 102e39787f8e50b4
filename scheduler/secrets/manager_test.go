package secrets

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
)

// managerTest is a manager of a store in memory.
type managerTest struct {
	*testing.T
	*Manager

	store *memory
	asked []string // jobs that the manager was asked about
}

func newManagerTest(t *testing.T, keys ...seal.Key) *managerTest {
	m := &managerTest{T: t, store: newMemory()}
	m.restart(keys...)
	return m
}

// restart gives the manager other keys.
func (m *managerTest) restart(keys ...seal.Key) {
	cfg := Config{Store: m.store}
	if len(keys) > 0 {
		cfg.Keys = seal.NewKeyring(keys[0], keys[1:]...)
	}
	m.Manager = NewManager(ManagerConfig{
		Vault: NewVault(cfg), Jobs: m.store,
		Refers: func(st scheduler.Stored, name string) bool {
			m.asked = append(m.asked, st.Key.Job+" "+name)
			return !strings.HasPrefix(st.Key.Job, "not")
		},
	})
}

func newKey(t *testing.T, id string) seal.Key {
	t.Helper()
	k, err := seal.NewKey(id)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// set sets a shared secret.
func (m *managerTest) set(name, body string) (*SharedSecret, bool) {
	m.Helper()
	s, created, err := m.Put(m.Context(), name, []byte(body))
	if err != nil {
		m.Fatal(err)
	}
	return s, created
}

// put stores a job, its secrets sealed.
func (m *managerTest) put(name string, state scheduler.State, properties string) {
	m.Helper()
	k := scheduler.Key{Collection: "default", Job: name}
	v, _ := readProperties(m.T, properties)
	sealed, err := m.vault.Seal(k, v)
	if err != nil {
		m.Fatal(err)
	}
	head := fmt.Sprintf(`{"uid":"u-%s","generation":3,"scheduleGeneration":1,"state":%q`, name, state)
	m.store.jobs[k] = scheduler.Stored{Key: k, Revision: 7, Data: scheduler.JoinStored([]byte(head), sealed.JSON())}
}

// opened returns the properties of a stored job with their secrets in the clear.
func (m *managerTest) opened(name string) string {
	m.Helper()
	k := scheduler.Key{Collection: "default", Job: name}
	_, properties, err := scheduler.SplitStored(m.store.jobs[k].Data)
	if err != nil {
		m.Fatal(err)
	}
	v, err := document.Parse(properties)
	if err != nil {
		m.Fatal(err)
	}
	shown := v.String()
	v.Unseal("", func(path, sealed string) (string, error) {
		text, err := m.vault.keys.Open(jobPlace(k, path), sealed)
		if err != nil {
			text = "(" + seal.KeyID(sealed) + ")"
		}
		shown = strings.Replace(shown, `{"$sealed":"`+sealed+`"}`, seal.KeyID(sealed)+":"+text, 1)
		return text, err
	})
	return shown
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestPutAndList shows how shared secrets are shown: all but their values.
func TestPutAndList(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		m := newManagerTest(t, newKey(t, "k1"))
		if all, err := m.List(t.Context()); err != nil || all == nil || len(all) != 0 {
			t.Errorf("got %v, %v", all, err)
		}
		const described = `", "description": "a & b < \"c\" ö"}`
		if s, created := m.set("front", `{"value": "s3cret`+described); !created || s.Key != "k1" {
			t.Errorf("got %+v, %t", s, created)
		}
		time.Sleep(90 * time.Minute)
		s, created := m.set("front", `{"value": "other`+described)
		if created || s.Updated.Sub(s.Created) != 90*time.Minute {
			t.Errorf("set again: %+v, %t", s, created)
		}
		m.set("back", "value: s3cret\n")
		m.store.breaks("broken")
		all, err := m.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range all {
			got = append(got, string(v1.JSON(s)))
		}
		want := []string{
			`{"name":"back","created":"2000-01-01T01:30:00Z","updated":"2000-01-01T01:30:00Z","key":"k1"}`,
			`{"name":"broken","problem":"its stored data cannot be read: unexpected end of JSON input"}`,
			`{"name":"front","description":"a & b < \"c\" ö","created":"2000-01-01T00:00:00Z",` +
				`"updated":"2000-01-01T01:30:00Z","key":"k1"}`,
		}
		if !slices.Equal(got, want) {
			t.Errorf("got  %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
		if _, created := m.set("broken", `{"value": "s3cret"}`); created {
			t.Error("what is broken is replaced, not created")
		}
		if text, err := m.vault.Shared(t.Context(), "front"); text != "other" || err != nil {
			t.Errorf("got %q, %v", text, err)
		}
	})
}

// TestPutProblems shows that all that is wrong is told, and nothing of the value.
func TestPutProblems(t *testing.T) {
	m := newManagerTest(t)
	for body, want := range map[string]string{
		`{"value": "", "x": 1, "description": "` + strings.Repeat("d", 1025) + `"}`: "value: must not be empty\n" +
			"description: is 1025 bytes long, at most 1024 are allowed\nx: unknown field\nvalue: " + noKey,
		`{"value": 1}`:             "value: must be a string, not a number\nvalue: " + noKey,
		`{}`:                       "value: is required\nvalue: " + noKey,
		strings.Repeat("x", 16385): "the document is 16385 bytes long, at most 16384 (16 KB) are allowed",
	} {
		_, _, err := m.Put(t.Context(), "front", []byte(body))
		if !errors.Is(err, scheduler.ErrInvalid) || err.Error() != want {
			t.Errorf("%.40s: got %v, want %s", body, err, want)
		}
	}
	_, _, err := m.Put(t.Context(), "a.b", nil)
	if !errors.Is(err, scheduler.ErrInvalid) || !strings.HasPrefix(err.Error(), "secret: ") {
		t.Errorf("got %v", err)
	}
}

// TestPutOvertaken shows that a secret is set although others set it, and that this has an end.
func TestPutOvertaken(t *testing.T) {
	for _, test := range []struct {
		times int
		wrong string
	}{{9, ""}, {10, "secret front: conflict: other clients kept changing it; try again"}} {
		m := newManagerTest(t, newKey(t, "k1"))
		left := test.times
		m.store.overtake = func() {
			left--
			if left >= 0 {
				st := m.store.secrets["front"]
				m.store.secrets["front"] = scheduler.Stored{Key: st.Key, Revision: st.Revision + 1, Data: []byte("{}")}
			}
		}
		_, created, err := m.Put(t.Context(), "front", []byte(`{"value": "s3cret"}`))
		conflict := errors.Is(err, scheduler.ErrConflict)
		if created || conflict != (test.wrong != "") || err != nil && err.Error() != test.wrong {
			t.Errorf("overtaken %d times: %t, %v", test.times, created, err)
		}
	}
}

// TestDelete shows that a secret stays while jobs that may run need it.
func TestDelete(t *testing.T) {
	m := newManagerTest(t, newKey(t, "k1"))
	m.set("front", `{"value": "s3cret"}`)
	const refers = `{"action":{"key":{"secretRef":"front"}}}`
	for _, name := range []string{"c", "b", "a"} {
		m.put(name, scheduler.Enabled, refers)
	}
	m.put("disabled", scheduler.Disabled, refers)
	m.put("over", scheduler.Completed, refers)
	m.put("faulted", scheduler.Faulted, refers)
	m.put("not", scheduler.Enabled, `{"labels":{"secretRef":"front"}}`)
	m.put("other", scheduler.Enabled, `{"action":{"key":{"secretRef":"front2"}}}`)
	err := m.Delete(t.Context(), "front", false)
	const want = "secret front: conflict: jobs refer to it: default/a, default/b, default/c, default/disabled"
	if !errors.Is(err, scheduler.ErrConflict) || err.Error() != want {
		t.Errorf("got %v", err)
	}
	slices.Sort(m.asked)
	if got := strings.Join(m.asked, ", "); got != "a front, b front, c front, disabled front, not front" {
		t.Errorf("asked about %s", got)
	}
	for _, name := range []string{"d", "e"} {
		m.put(name, scheduler.Enabled, refers)
	}
	err = m.Delete(t.Context(), "front", false)
	const more = "default/c, default/d, default/disabled and 1 more"
	if err == nil || !strings.HasSuffix(err.Error(), more) {
		t.Errorf("got %v", err)
	}
	if err := m.Delete(t.Context(), "front", true); err != nil {
		t.Errorf("by force: %v", err)
	}
	err = m.Delete(t.Context(), "front", true)
	if !errors.Is(err, scheduler.ErrNotFound) || err.Error() != "secret front: not found" {
		t.Errorf("again: %v", err)
	}
	m.set("free", `{"value": "s3cret"}`)
	if err := m.Delete(t.Context(), "free", false); err != nil {
		t.Errorf("a free one: %v", err)
	}
}

// TestRotate shows that everything is sealed with the first key, that nothing else changes, and that what cannot be
// opened is told and left alone.
func TestRotate(t *testing.T) {
	lost, k1, k2 := newKey(t, "lost"), newKey(t, "k1"), newKey(t, "k2")
	m := newManagerTest(t, lost)
	m.set("gone", `{"value": "s3cret"}`)
	m.put("gone", scheduler.Enabled, `{"action":{"key":"s3cret"}}`)
	half := m.store.jobs[scheduler.Key{Collection: "default", Job: "gone"}].Data
	m.restart(k1)
	m.set("kept", `{"value": "s3cret", "description": "d"}`)
	m.put("plain", scheduler.Enabled, `{"action":{"name":"n"}}`)
	m.put("kept", scheduler.Enabled, `{"action":{"key":"s3cret","spare":"other"}}`)
	m.put("over", scheduler.Completed, `{"action":{"key":"s3cret"}}`)
	m.put("half", scheduler.Enabled, `{"action":{"spare":"other"}}`)
	k := scheduler.Key{Collection: "default", Job: "half"}
	st := m.store.jobs[k]
	_, sealed, _ := strings.Cut(string(half), `"action":{`)
	sealed, _, _ = strings.Cut(sealed, "}")
	st.Data = []byte(strings.Replace(string(st.Data), `"action":{`, `"action":{`+sealed+"},", 1))
	m.store.jobs[k] = st

	m.restart(k2, k1)
	const why = `the key is not known here: it was sealed with key \"lost\"`
	const failures = `"failures":3,"failed":[{"job":"default/gone","reason":"action.key: ` + why +
		`"},{"job":"default/half","reason":"action.key: ` + why +
		`"},{"secret":"gone","reason":"it cannot be opened: ` + why + `"}]}`
	rotate := func() string {
		t.Helper()
		r, err := m.Rotate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return asJSON(t, r)
	}
	left := 2 // the first writes are overtaken
	m.store.overtake = func() {
		left--
		switch left {
		case 1:
			st := m.store.secrets["kept"]
			st.Revision++
			m.store.secrets["kept"] = st
		case 0:
			for k, st := range m.store.jobs {
				st.Revision++
				m.store.jobs[k] = st
			}
		}
	}
	if got, want := rotate(), `{"key":"k2","jobs":2,"secrets":1,"skipped":0,`+failures; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := rotate(), `{"key":"k2","jobs":0,"secrets":0,"skipped":3,`+failures; got != want {
		t.Errorf("again: got  %s\nwant %s", got, want)
	}
	m.restart(k2)
	for name, want := range map[string]string{
		"plain": `{"action":{"name":"n"}}`, "kept": `{"action":{"key":k2:s3cret,"spare":k2:other}}`,
		"over": `{"action":{"key":k2:s3cret}}`, "half": `{"action":{"key":lost:(lost),"spare":k2:other}}`,
	} {
		k := scheduler.Key{Collection: "default", Job: name}
		if got := m.opened(name); got != want {
			t.Errorf("%s: stored as %s, want %s", name, got, want)
		}
		head := fmt.Sprintf(`{"uid":"u-%s","generation":3,"scheduleGeneration":1,"state":"`, name)
		if !strings.HasPrefix(string(m.store.jobs[k].Data), head) {
			t.Errorf("%s: stored as %s", name, m.store.jobs[k].Data)
		}
		if m.store.final[k] != (name == "over") {
			t.Errorf("%s: final: %t", name, m.store.final[k])
		}
	}
	if text, err := m.vault.Shared(t.Context(), "kept"); text != "s3cret" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
	m.restart()
	if r, err := m.Rotate(t.Context()); r != nil || !errors.Is(err, scheduler.ErrConflict) {
		t.Errorf("without a key: %v, %v", r, err)
	}
}

// TestRotateOvertaken shows that what others change all the while is told.
func TestRotateOvertaken(t *testing.T) {
	k1 := newKey(t, "k1")
	m := newManagerTest(t, k1)
	m.put("job", scheduler.Enabled, `{"action":{"key":"s3cret"}}`)
	m.restart(newKey(t, "k2"), k1)
	k := scheduler.Key{Collection: "default", Job: "job"}
	m.store.overtake = func() {
		st := m.store.jobs[k]
		st.Revision++
		m.store.jobs[k] = st
	}
	r, err := m.Rotate(t.Context())
	if err != nil || len(r.Failed) != 1 || r.Failed[0].Reason != "other clients kept changing it" {
		t.Errorf("got %+v, %v", r, err)
	}
	m.store.overtake = func() { delete(m.store.jobs, k) }
	r, err = m.Rotate(t.Context())
	if err != nil || len(r.Failed) != 0 || r.Jobs != 0 {
		t.Errorf("deleted meanwhile: got %+v, %v", r, err)
	}
}

// TestUndecryptable shows that secrets are told by the keys that are missing.
func TestUndecryptable(t *testing.T) {
	m := newManagerTest(t, newKey(t, "old"))
	m.set("a", `{"value": "s3cret"}`)
	m.set("b", `{"value": "s3cret"}`)
	m.put("first", scheduler.Enabled, `{"action":{"key":"s3cret","spare":"x"}}`)
	m.restart(newKey(t, "k1"))
	m.put("second", scheduler.Enabled, `{"action":{"key":"s3cret"}}`)
	m.store.breaks("broken")
	m.restart(newKey(t, "k1")) // another key of the same id
	m.put("third", scheduler.Enabled, `{"action":{"key":"s3cret"}}`)
	var sample []scheduler.Key
	for k := range m.store.jobs {
		sample = append(sample, k)
	}
	const want = `[{"key":"","reason":"its stored data cannot be read: unexpected end of JSON input",` +
		`"secrets":1,"jobs":0,"example":"secret broken"},` +
		`{"key":"k1","reason":"the sealed text is damaged, or was sealed for another place",` +
		`"secrets":0,"jobs":1,"example":"job default/second"},` +
		`{"key":"old","reason":"it cannot be opened: the key is not known here: it was sealed with key \"old\"",` +
		`"secrets":2,"jobs":1,"example":"secret a"}]`
	for range 2 {
		found, err := m.Undecryptable(t.Context(), sample)
		if got := asJSON(t, found); err != nil || got != want {
			t.Errorf("got %s, %v\nwant %s", got, err, want)
		}
	}
	clear(m.store.secrets)
	if found, err := m.Undecryptable(t.Context(), nil); err != nil || asJSON(t, found) != "[]" {
		t.Errorf("got %v, %v", found, err)
	}
}
