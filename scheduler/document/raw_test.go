package document_test

import (
	"bytes"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// checkRaw shows that what is not parsed says the same of its members as a value does.
func checkRaw(t *testing.T, v document.Value) {
	t.Helper()
	i, members := 0, v.Members()
	for name, raw := range document.Raw(v.JSON()).Members() {
		if i == len(members) {
			t.Fatalf("%s has another member %s", v, name)
		}
		m := members[i]
		quoted := document.StringValue(m.Name).JSON()
		if !bytes.Equal(quoted[1:len(quoted)-1], name) || !bytes.Equal(m.Value.JSON(), raw) {
			t.Fatalf("%s has %s: %s", v, name, raw)
		}
		if text, ok := raw.Plain(); ok && (m.Value.Kind() != document.KindString || m.Value.Text() != string(text)) {
			t.Fatalf("%s is the text %q", m.Value, text)
		}
		checkRaw(t, m.Value)
		i++
	}
	if i < len(members) {
		t.Fatalf("of %s there are %d members", v, i)
	}
}

func TestRaw(t *testing.T) {
	raw := document.Raw(`{"a":"x\\\"}","b":[{"c":"]"},[1,"\\"]],"c\"":{},"d":{"e":"f","g":-1.5e3},"h":null}`)
	for path, want := range map[string]string{"a": `"x\\\"}"`, "b": `[{"c":"]"},[1,"\\"]]`, "d": `{"e":"f","g":-1.5e3}`, "h": "null", "e": ""} {
		if got := raw.Member(path); string(got) != want {
			t.Errorf("%s is %s, not %s", path, got, want)
		}
	}
	if text, ok := raw.Member("d").Member("e").Plain(); string(text) != "f" || !ok {
		t.Errorf("got %q, %t", text, ok)
	}
	for _, name := range []string{"a", "b", "d", "h", "none"} {
		if text, ok := raw.Member(name).Plain(); ok {
			t.Errorf("%s is the plain text %q", name, text)
		}
	}
}

// FuzzRaw shows that no text makes it fail, be it JSON or not.
func FuzzRaw(f *testing.F) {
	for _, seed := range []string{sampleJob, `{"a":"\`, `{"a`, `{"a":{"b":[}`, `{"a":1,`, `"a"b"`, `{"":"\\\"",}`, "{\"a\":\n1}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(_ *testing.T, data []byte) {
		document.Raw(data).Plain()
		for _, inner := range document.Raw(data).Members() {
			inner.Plain()
			inner.Member("a")
		}
	})
}
