package document_test

import (
	"testing"

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
