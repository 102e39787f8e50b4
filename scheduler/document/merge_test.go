package document_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler/document"
)

func TestMerge(t *testing.T) {
	tests := []struct{ base, patch, want string }{
		{`{"a":1,"b":2}`, `{"b":3,"c":4}`, `{"a":1,"b":3,"c":4}`},
		{`{"a":{"b":1,"c":2}}`, `{"a":{"b":null}}`, `{"a":{"c":2}}`},
		{`{"a":[1,2]}`, `{"a":[3]}`, `{"a":[3]}`},
		{`{"a":1}`, `{"a":{"b":null,"c":1}}`, `{"a":{"c":1}}`},
		{`{"a":1}`, `{"b":null}`, `{"a":1}`},
		{`{"startTime":1}`, `{"STARTTIME":2}`, `{"startTime":2}`}, // the spelling that is there stays
		{`{"startTime":1}`, `{"STARTTIME":2,"Starttime":3}`, `{"startTime":2,"Starttime":3}`},
		{`{"a":1}`, `{"X":1,"x":{"b":null}}`, `{"a":1,"X":1,"x":{}}`},
		{`{"Name":1,"name":2}`, `{"name":3}`, `{"Name":1,"name":3}`}, // names of a map that are not the same
		{`{"Name":1,"name":2}`, `{"name":null}`, `{"Name":1}`},
		{`{"Name":1}`, `{"name":2,"Name":null}`, `{"name":2}`},
		{`{"Name":1}`, `{"NAME":2,"name":3,"Name":4}`, `{"Name":4,"NAME":2,"name":3}`},
		{`{"ſtart":1,"Kelvin":2}`, `{"START":3,"kelvin":4}`, `{"ſtart":3,"Kelvin":4}`}, // letters of more than two cases
		{`{"a":1}`, `[]`, `[]`},
		{`[1]`, `{"a":1}`, `{"a":1}`},
		{`{"frequency":"day","count":10}`, `{"frequency":"week"}`, `{"frequency":"week","count":10}`},
	}
	for _, test := range tests {
		base, patch := parse(t, test.base), parse(t, test.patch)
		if got := document.Merge(base, patch).String(); got != test.want {
			t.Errorf("Merge(%s, %s) = %s, want %s", test.base, test.patch, got, test.want)
		}
		if base.String() != test.base || patch.String() != test.patch {
			t.Errorf("Merge(%s, %s) changed them to %s, %s", test.base, test.patch, base, patch)
		}
	}
}

// TestMergeManyNames merges a patch of names that differ in letter case alone. Were each compared with all others for each
// other, this would take hours.
func TestMergeManyNames(t *testing.T) {
	const there = 1 << 14
	var all []document.Member
	for i := range 2 * there {
		name := []byte("aaaaaaaaaaaaaaa")
		for bit := range name {
			name[bit] -= byte(i>>bit&1) * ('a' - 'A')
		}
		all = append(all, document.Member{Name: string(name), Value: document.StringValue("x")})
	}
	merged := document.Merge(document.ObjectValue(all[:there]...), document.ObjectValue(all...))
	if n := len(merged.Members()); n != len(all) {
		t.Errorf("%d members, want %d", n, len(all))
	}
}

func TestWithoutAndOnly(t *testing.T) {
	v := parse(t, `{"a":1,"b":null,"c":3,"d":4}`)
	if got := v.Without("c").String(); got != `{"a":1,"d":4}` {
		t.Errorf("Without: %s", got)
	}
	if got := v.Except("c").String(); got != `{"a":1,"b":null,"d":4}` {
		t.Errorf("Except: %s", got)
	}
	if got := v.Only("c", "b").String(); got != `{"c":3}` {
		t.Errorf("Only: %s", got)
	}
	if got := parse(t, `[1]`).Without("a").String(); got != `[1]` {
		t.Errorf("of an array: %s", got)
	}
}

func parse(t *testing.T, text string) document.Value {
	t.Helper()
	v, err := document.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestPatch makes patches, and merges them.
func TestPatch(t *testing.T) {
	for _, test := range []struct{ from, to, want string }{
		{`{"a": 1}`, `{"a": 1}`, `{}`},
		{`{"a": 1, "b": 2}`, `{"b": 2, "a": 1}`, `{}`},
		{`{"a": 1}`, `{"a": 2}`, `{"a":2}`},
		{`{"a": 1}`, `{"b": 1}`, `{"a":null,"b":1}`},
		{`{"a": {"b": {"c": 1, "d": 2}}}`, `{"a": {"b": {"c": 1}}}`, `{"a":{"b":{"d":null}}}`},
		{`{"a": {"b": 1}}`, `{"a": [1]}`, `{"a":[1]}`},
		{`{"a": [1, 2]}`, `{"a": [2, 1]}`, `{"a":[2,1]}`},
		{`{"a": "x"}`, `{"a": {"b": 1}}`, `{"a":{"b":1}}`},
		{`{"uri": "x"}`, `{"URI": "y"}`, `{"uri":"y"}`},
		{`{"a": {}}`, `{"a": {"password": null}}`, `{"a":{"password":null}}`},
		{`{}`, `{}`, `{}`},
	} {
		from, err := document.Parse([]byte(test.from))
		if err != nil {
			t.Fatal(err)
		}
		to, err := document.Parse([]byte(test.to))
		if err != nil {
			t.Fatal(err)
		}
		patch, changed := document.Patch(from, to)
		if got := patch.String(); got != test.want || changed != (got != "{}") {
			t.Errorf("%s to %s: got %s, %v", test.from, test.to, got, changed)
		}
	}
}

func TestOmitted(t *testing.T) {
	parse := func(text string) document.Value {
		v, err := document.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	old := parse(`{"headers": {"X-Api-Key": "s", "Accept": "a"}, "token": "s", "shared": {"secretRef": "n"}, "authentication":
		{"type": "Basic", "password": "s"}, "list": [1]}`)
	r := document.NewReader()
	o := r.Object(old, "")
	headers, _ := o.Object("headers")
	headers.Secret("X-Api-Key")
	authentication, _ := o.Object("authentication")
	authentication.Secret("password")
	for _, name := range []string{"token", "shared"} {
		if _, ok := o.Secret(name); !ok {
			t.Fatal(r.Err())
		}
	}
	const token, password = "at.token", "at.authentication.password"
	for next, want := range map[string][]string{
		`{}`:                           {`at.headers.X-Api-Key`, token, password},
		`{"headers": {"Accept": "a"}}`: {`at.headers.X-Api-Key`, token, password},
		`{"headers": null, "token": null, "authentication": {"type": "basic", "password": null}}`:                           nil,
		`{"HEADERS": {"x-api-key": "t"}, "TOKEN": {"secretRef": "x"}, "authentication": {"type": "Basic", "PASSWORD": ""}}`: nil,
		`{"headers": 1, "token": "", "authentication": {"type": "OAuth2"}}`:                                                 nil,
		`{"headers": {}, "token": "", "authentication": {}}`:                                                                {`at.headers.X-Api-Key`, password},
		`[]`: nil,
	} {
		if diff := cmp.Diff(want, old.Omitted("at", parse(next))); diff != "" {
			t.Errorf("%s: %s", next, diff)
		}
	}
}

// TestOmittedOfAnotherType shows that what both types have in common is compared, as of http and https.
func TestOmittedOfAnotherType(t *testing.T) {
	old, err := document.Parse([]byte(`{"type": "Http", "token": "s", "request": {"headers": {"X-Api-Key": "s"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	o := document.NewReader().Object(old, "")
	o.Secret("token")
	request, _ := o.Object("request")
	headers, _ := request.Object("headers")
	headers.Secret("X-Api-Key")
	for next, want := range map[string][]string{
		`{"type": "Https", "request": {}}`:        {"request.headers.X-Api-Key"},
		`{"type": "http", "request": {}}`:         {"token", "request.headers.X-Api-Key"},
		`{"type": "StorageQueue", "message": {}}`: nil,
	} {
		v, err := document.Parse([]byte(next))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, old.Omitted("", v)); diff != "" {
			t.Errorf("%s: %s", next, diff)
		}
	}
}

// TestCompleted brings back what is omitted, and nothing else.
func TestCompleted(t *testing.T) {
	parse := func(text string) document.Value {
		v, err := document.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	old := parse(`{"type": "Http", "headers": {"X-Api-Key": "s", "Accept": "a"}, "token": "s", "authentication": {"type": "Basic", "password": "s"}}`)
	o := document.NewReader().Object(old, "")
	headers, _ := o.Object("headers")
	headers.Secret("X-Api-Key")
	authentication, _ := o.Object("authentication")
	authentication.Secret("password")
	o.Secret("token")
	const header, token, password = "at.headers.X-Api-Key", "at.token", "at.authentication.password"
	for next, want := range map[string][]string{
		`{}`:                           {header, token},
		`{"headers": {"Accept": "b"}}`: {header, token},
		`{"headers": null, "token": null, "authentication": {"type": "basic", "password": null}}`: nil,
		`{"HEADERS": {"x-api-key": "t"}, "TOKEN": "", "authentication": {"type": "Basic"}}`:       {password},
		`{"headers": {}, "token": "", "authentication": {"type": "OAuth2"}}`:                      {header},
		`{"type": "Other", "token": "x"}`:                                                         nil,
		`[]`:                                                                                      nil,
	} {
		whole, kept := old.Completed("at", parse(next))
		if diff := cmp.Diff(want, kept); diff != "" {
			t.Errorf("%s: %s", next, diff)
		}
		if left := old.Omitted("at", whole); len(left) > 0 && (len(left) > 1 || left[0] != password) {
			t.Errorf("%s: %v are still missing", next, left)
		}
	}
}

// TestRestored brings secrets back to a document that was shown without them.
func TestRestored(t *testing.T) {
	v := parse(t, `{"list": [{"type": "a", "key": "s0"}, {"type": "b", "inner": {"key": "s1", "other": 1}, "only": {"key": "s2"}}], "key": "s3"}`)
	r := document.NewReader()
	o := r.Object(v, "")
	elements, _ := o.Objects("list")
	for _, inner := range elements {
		inner.Secret("key")
		for _, name := range []string{"inner", "only"} {
			if in, ok := inner.Object(name); ok {
				in.Secret("key")
			}
		}
	}
	o.Secret("key")
	all := []string{"list[0].key", "list[1].inner.key", "list[1].only.key", "key"}
	for _, test := range []struct {
		next, want string // want: the paths of secrets
		keep       []string
	}{
		{`{"list": [{"type": "a"}, {"type": "b", "inner": {}}]}`, "list[0].key list[1].inner.key list[1].only.key key", all},
		{`{"list": [{"type": "a"}, {"type": "b", "inner": {}}]}`, "list[0].key", all[:1]},
		{`{"list": [{"type": "b"}, {"type": "b", "inner": {"key": null}}]}`, "list[1].only.key", all[:3]},
		{`{"list": [{"type": "a", "KEY": "typed"}]}`, "", all[:3]},
		{`{"list": [], "key": null}`, "", all},
		{`{"list": 5}`, "", all[:3]},
	} {
		got := v.Restored("", parse(t, test.next), func(path string) bool { return slices.Contains(test.keep, path) })
		paths, _ := got.SecretPaths()
		if joined := strings.Join(paths, " "); joined != test.want {
			t.Errorf("%s: secrets at %q, want %q", test.next, joined, test.want)
		}
	}
}
