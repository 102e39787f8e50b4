package natsmsg

import (
	"strings"
	"testing"
)

// TestOverlap compares patterns of subjects.
func TestOverlap(t *testing.T) {
	for _, test := range []struct {
		a, b             string
		overlap, matches bool
	}{
		{"a.b", "a.b", true, true},
		{"a.b", "a.c", false, false},
		{"a.b", "a", false, false},
		{"a.*", "a.b", true, true},
		{"a.b", "a.*", true, false},
		{"a.*", "a.>", true, false},
		{"a.>", "a.*", true, true},
		{"a.>", "a", false, false},
		{">", "a.b.c", true, true},
		{"*.b", "a.*", true, false},
		{"a.*.c", "a.b.d", false, false},
	} {
		if got := overlap(test.a, test.b); got != test.overlap || got != overlap(test.b, test.a) {
			t.Errorf("overlap of %s and %s: %t", test.a, test.b, got)
		}
		if got := matches(test.a, test.b); got != test.matches {
			t.Errorf("%s matches %s: %t", test.a, test.b, got)
		}
	}
}

// TestAdmits checks the subjects of sources.
func TestAdmits(t *testing.T) {
	rules := subjectRules{prefix: "own", inbox: "shop.inbox", allow: []string{">"}, sources: []string{"shop.>", "own.>", "carillon.>"}}
	for subject, want := range map[string]string{
		"shop.orders":     "",
		"shop.*":          "",
		"shop.*.new":      "subjects of a scheduler, which begin with shop.inbox",
		"shop.>":          "subjects of a scheduler, which begin with shop.inbox",
		"shop":            "none of the subjects that sources may receive",
		"*.orders":        "subjects of a scheduler, which begin with own",
		"own.event.a.b":   "subjects of a scheduler, which begin with own",
		"carillon.spec.*": "subjects of a scheduler, which begin with carillon",
		"carillon":        "belongs to a scheduler",
		"$KV.secrets.a":   "belongs to NATS itself",
		"billing.orders":  "none of the subjects that sources may receive",
	} {
		if err := rules.admits(subject); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", subject, err)
		}
	}
	if err := (subjectRules{prefix: "own", allow: []string{">"}}).admits("shop.orders"); err == nil {
		t.Error("without a list, sources may receive subjects that jobs may use")
	}
}
