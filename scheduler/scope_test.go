package scheduler_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

func scope(t *testing.T, subscription, group string) scheduler.Scope {
	t.Helper()
	return must.Get(scheduler.NewScope(subscription, group))(t)
}

// TestScopeNamesCollections checks collection names in keys: plain in the default scope, distinct in all others,
// independent of letter case, and different from every name of a user.
func TestScopeNamesCollections(t *testing.T) {
	if got := scope(t, scheduler.DefaultSubscription, "DEFAULT").Collection("jobs"); got != "jobs" {
		t.Errorf("in the default scope: %s", got)
	}
	seen := map[string]bool{"jobs": true}
	for _, names := range [][2]string{{"s", "g"}, {"sg", ""}, {"s/g", ""}, {"g", "s"}, {"s", "gg"}, {scheduler.DefaultSubscription, "g"}, {"s", scheduler.DefaultGroup}} {
		name := scheduler.Scope{Subscription: names[0], Group: names[1]}.Collection("jobs")
		if seen[name] || scheduler.ValidateName("collection", name) == nil || scheduler.ValidateCollection(name) != nil ||
			scheduler.PlainName(name) != "jobs" {
			t.Errorf("%v: %s", names, name)
		}
		seen[name] = true
	}
	if a, b := scope(t, "S", "Group"), scope(t, "s", "gROUP"); a.Collection("jobs") != b.Collection("jobs") || !a.Is(b) {
		t.Errorf("%s, %s", a.Collection("jobs"), b.Collection("jobs"))
	}
	const known = "jobs=y5x7abnuy4hgtf4i" // it stands in stores: it must never become another
	if got := scope(t, "623d50f1-4fa8-4e46-a967-a9214aed43ab", "Group").Collection("jobs"); got != known {
		t.Errorf("got %s, want %s", got, known)
	}
}

// TestValidateCollection checks that '=' is valid only before the mark of a scope.
func TestValidateCollection(t *testing.T) {
	for _, name := range []string{"a=", "a=b", "a=abcdefghijklmno1", "a=ABCDEFGHIJKLMNOP", "=abcdefghijklmnop", "a=abcdefghijklmnop=", "a=abcdefghijklmnopq", "1"} {
		if err := scheduler.ValidateCollection(name); !errors.Is(err, scheduler.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestNewScope rejects invalid names of subscriptions and groups.
func TestNewScope(t *testing.T) {
	for _, names := range [][2]string{{"", "g"}, {"s", ""}, {"s", strings.Repeat("x", 91)}, {"s/t", "g"}, {"s", "a b"}, {"s", "a\x00b"}, {"\xff", "g"}} {
		if _, err := scheduler.NewScope(names[0], names[1]); !errors.Is(err, scheduler.ErrInvalid) {
			t.Errorf("%q: %v", names, err)
		}
	}
	for _, group := range []string{"a.b(c)-d_e", "grün", strings.Repeat("ü", 90)} {
		if _, err := scheduler.NewScope("s", group); err != nil {
			t.Error(err)
		}
	}
}

// TestReadID parses ids of both forms.
func TestReadID(t *testing.T) {
	const of = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Scheduler"
	for id, want := range map[string]string{
		"/jobCollections/c":                                                                  "/ /jobCollections/c",
		of + "/jobCollections/c":                                                             "s/g /jobCollections/c",
		strings.ToUpper(of+"/jobCollections/") + "c/jobs/j":                                  "S/G /JOBCOLLECTIONS/c/jobs/j",
		scheduler.Scope{}.Provider() + "/jobCollections/c":                                   "/ /jobCollections/c",
		"/subscriptions/s/resourceGroups/g/providers/Microsoft.Else/jobCollections/c":        "",
		"/subscriptions/s/resourceGroups/g/x/providers/Microsoft.Scheduler/jobCollections/c": "",
		"x/subscriptions/s/resourceGroups/g/providers/Microsoft.Scheduler/jobCollections/c":  "",
		"/subscriptions/s/elseGroups/g/providers/Microsoft.Scheduler/jobCollections/c":       "",
		"/subscriptions//resourceGroups/g/providers/Microsoft.Scheduler/jobCollections/c":    "",
		"/providers/Microsoft.Scheduler/jobCollections/c":                                    "",
		"c": "", "": "", "İ/jobCollections": "",
	} {
		s, rest, ok := scheduler.ReadID(id)
		if got := s.Subscription + "/" + s.Group + " " + rest; ok != (want != "") || ok && got != want {
			t.Errorf("%s: got %s, %v, want %s", id, got, ok, want)
		}
	}
}

// TestStoredScope checks that a collection keeps its scope in the store; collections stored before scopes existed are
// in the default one.
func TestStoredScope(t *testing.T) {
	s := scope(t, "S1", "Group")
	v := parseDocument(t, `{"id": "`+s.Provider()+`/jobCollections/c", "name": "c", "properties": {"state": "Suspended"}}`)
	c, err := scheduler.ReadCollection(s.Collection("c"), v)
	if err != nil || c.Scope != s || c.Placed() != nil {
		t.Fatalf("%+v, %v", c, err)
	}
	data := must.Get(c.Encode())(t)
	if !strings.Contains(string(data), `"state":"disabled"`) {
		t.Errorf("a version that does not know it would take it for damaged: %s", data)
	}
	if c, err = scheduler.DecodeCollection(s.Collection("c"), 1, data); err != nil || c.Scope != s || c.State != scheduler.Disabled || c.ShownState() != "suspended" {
		t.Errorf("%+v, %v", c, err)
	}
	old, err := scheduler.DecodeCollection("c", 1, []byte(`{"top":{},"properties":{"state":"disabled"}}`))
	if err != nil || !old.Scope.IsDefault() || old.Placed() != nil || old.State != scheduler.Disabled {
		t.Errorf("%+v, %v", old, err)
	}
	if c, err = scheduler.ReadCollection(s.Collection("c"), document.ObjectValue()); err != nil || !errors.Is(c.Placed(), scheduler.ErrNotFound) {
		t.Errorf("without an id: %+v, %v", c, err)
	}
}
