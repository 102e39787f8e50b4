package access_test

import (
	"context"
	"errors"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/access"
)

// grants reads grants as they are written.
func grants(t *testing.T, texts ...string) []access.Grant {
	t.Helper()
	var all []access.Grant
	for _, text := range texts {
		g, err := access.ParseGrant(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, g)
	}
	return all
}

// TestMay is the whole decision: each row is what somebody may do on a collection a, on another one b, and on what
// belongs to none.
func TestMay(t *testing.T) {
	rights := []access.Right{
		access.Open, access.Known, access.ReadAny, access.OperateAny, access.Read, access.Operate, access.Administer, "", "nonsense",
	}
	const none = "o........"
	tests := []struct {
		grants     []string
		a, b, over string // one letter for each right, in their order above; "." is no
	}{
		{nil, none, none, none},
		{[]string{"reader"}, "okr.R....", "okr.R....", "okr.R...."},
		{[]string{"operator"}, "okrpRO...", "okrpRO...", "okrpRO..."},
		{[]string{"admin"}, "okrpROA..", "okrpROA..", "okrpROA.."},
		{[]string{"reader@a"}, "okr.R....", "okr......", "okr......"},
		{[]string{"operator@a"}, "okrpRO...", "okrp.....", "okrp....."},
		{[]string{"admin@a"}, "okrpROA..", "okrp.....", "okrp....."},
		{[]string{"reader@a,b"}, "okr.R....", "okr.R....", "okr......"},
		{[]string{"reader", "operator@a"}, "okrpRO...", "okrpR....", "okrpR...."},
		{[]string{"operator@a", "reader@a"}, "okrpRO...", "okrp.....", "okrp....."},
	}
	letters := "okrpROA??"
	for _, test := range tests {
		p := &access.Principal{Name: "x", Via: access.ViaToken, Grants: grants(t, test.grants...)}
		for collection, want := range map[string]string{"a": test.a, "b": test.b, "": test.over} {
			for i, right := range rights {
				got := "."
				if access.May(p, right, collection) {
					got = letters[i : i+1]
				}
				if got != want[i:i+1] {
					t.Errorf("%v: %q on %q: got %s, want %s", test.grants, right, collection, got, want[i:i+1])
				}
			}
		}
	}
	for _, right := range rights {
		if got := access.May(nil, right, "a"); got != (right == access.Open) {
			t.Errorf("nobody known has %q: %v", right, got)
		}
		if got, want := right.Valid(), right != "" && right != "nonsense"; got != want {
			t.Errorf("%q is valid: %v", right, got)
		}
	}
	if access.May(&access.Principal{Grants: []access.Grant{{}}}, access.Read, "a") {
		t.Error("a grant without role gives something")
	}
}

// TestCheckNamesTheMissingRole shows that a refusal says what is missing, where, and who asked.
func TestCheckNamesTheMissingRole(t *testing.T) {
	ctx := access.With(context.Background(), &access.Principal{Name: "ci", Via: access.ViaToken, Grants: grants(t, "reader@a", "operator@b,c")})
	tests := []struct {
		ctx        context.Context //nolint:containedctx // the case
		right      access.Right
		collection string
		want       string
	}{
		{ctx, access.Operate, "a", "this needs the role operator on collection a; token ci has reader@a and operator@b,c"},
		{ctx, access.Administer, "", "this needs the role admin on all collections; token ci has reader@a and operator@b,c"},
		{context.Background(), access.ReadAny, "", "this needs the role reader on any collection; nobody known has no role"},
		{ctx, "", "a", "nobody may do this"},
		{ctx, access.Read, "a", ""},
		{access.With(context.Background(), access.Anybody(access.ViaOpen, "192.0.2.1")), access.Administer, "", ""},
	}
	for _, test := range tests {
		err := access.Check(test.ctx, test.right, test.collection)
		if test.want == "" {
			if err != nil {
				t.Errorf("%s on %s: %v", test.right, test.collection, err)
			}
			continue
		}
		if _, ok := errors.AsType[*access.Denied](err); !ok || err.Error() != test.want {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
	sees := access.Sees(ctx)
	if !sees("a") || !sees("c") || sees("d") || sees("") {
		t.Error("what is seen is not what was granted")
	}
}

func TestParseGrant(t *testing.T) {
	for _, text := range []string{"reader", "operator@partners", "admin@a,b"} {
		if g := grants(t, text)[0]; g.String() != text {
			t.Errorf("%s: read as %s", text, g)
		}
	}
	for _, text := range []string{"", "owner", "Reader", "reader@", "reader@a,,b", "@a"} {
		if g, err := access.ParseGrant(text); err == nil {
			t.Errorf("%q: read as %s", text, g)
		}
	}
}
