package auth_test

import (
	"context"
	"errors"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/auth"
)

// grants reads grants as they are written.
func grants(t *testing.T, texts ...string) []auth.Grant {
	t.Helper()
	var all []auth.Grant
	for _, text := range texts {
		g, err := auth.ParseGrant(text)
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
	rights := []auth.Right{
		auth.Open, auth.Known, auth.ReadAny, auth.OperateAny, auth.Read, auth.Operate, auth.Administer, auth.AdministerAny, "", "nonsense",
	}
	const none = "o........."
	tests := []struct {
		grants     []string
		a, b, over string // one letter for each right, in their order above; "." is no
	}{
		{nil, none, none, none},
		{[]string{"reader"}, "okr.R.....", "okr.R.....", "okr.R....."},
		{[]string{"operator"}, "okrpRO....", "okrpRO....", "okrpRO...."},
		{[]string{"admin"}, "okrpROAa..", "okrpROAa..", "okrpROAa.."},
		{[]string{"reader@a"}, "okr.R.....", "okr.......", "okr......."},
		{[]string{"operator@a"}, "okrpRO....", "okrp......", "okrp......"},
		{[]string{"admin@a"}, "okrpROAa..", "okrp...a..", "okrp...a.."},
		{[]string{"reader@a,b"}, "okr.R.....", "okr.R.....", "okr......."},
		{[]string{"reader", "operator@a"}, "okrpRO....", "okrpR.....", "okrpR....."},
		{[]string{"operator@a", "reader@a"}, "okrpRO....", "okrp......", "okrp......"},
	}
	letters := "okrpROAa??"
	for _, test := range tests {
		p := &auth.Principal{Name: "x", Via: auth.ViaToken, Grants: grants(t, test.grants...)}
		for collection, want := range map[string]string{"a": test.a, "b": test.b, "": test.over} {
			for i, right := range rights {
				got := "."
				if auth.May(p, right, collection) {
					got = letters[i : i+1]
				}
				if got != want[i:i+1] {
					t.Errorf("%v: %q on %q: got %s, want %s", test.grants, right, collection, got, want[i:i+1])
				}
			}
		}
	}
	for _, right := range rights {
		if got := auth.May(nil, right, "a"); got != (right == auth.Open) {
			t.Errorf("nobody known has %q: %v", right, got)
		}
		if got, want := right.Valid(), right != "" && right != "nonsense"; got != want {
			t.Errorf("%q is valid: %v", right, got)
		}
	}
	if auth.May(&auth.Principal{Grants: []auth.Grant{{}}}, auth.Read, "a") {
		t.Error("a grant without role gives something")
	}
}

// TestCheckNamesTheMissingRole shows that a refusal says what is missing, where, and who asked.
func TestCheckNamesTheMissingRole(t *testing.T) {
	ctx := auth.With(context.Background(), &auth.Principal{Name: "ci", Via: auth.ViaToken, Grants: grants(t, "reader@a", "operator@b,c")})
	tests := []struct {
		ctx        context.Context //nolint:containedctx // the case
		right      auth.Right
		collection string
		want       string
	}{
		{ctx, auth.Operate, "a", "this needs the role operator on collection a; token ci has reader@a and operator@b,c"},
		{ctx, auth.Administer, "", "this needs the role admin on all collections; token ci has reader@a and operator@b,c"},
		{context.Background(), auth.ReadAny, "", "this needs the role reader on any collection; nobody known has no role"},
		{ctx, "", "a", "no role permits this"},
		{ctx, auth.Read, "a", ""},
		{auth.With(context.Background(), auth.Anonymous(auth.ViaOpen, "192.0.2.1")), auth.Administer, "", ""},
	}
	for _, test := range tests {
		err := auth.Check(test.ctx, test.right, test.collection)
		if test.want == "" {
			if err != nil {
				t.Errorf("%s on %s: %v", test.right, test.collection, err)
			}
			continue
		}
		if _, ok := errors.AsType[*auth.Denied](err); !ok || err.Error() != test.want {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
	sees := auth.Sees(ctx)
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
		if g, err := auth.ParseGrant(text); err == nil {
			t.Errorf("%q: read as %s", text, g)
		}
	}
}
