package variable_test

import (
	"testing"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/variable"
)

// lookup knows one variable.
func lookup(name string) (string, bool) {
	if name != "CARILLON_ECHO" {
		return "", false
	}
	return "http://here/${CARILLON_X}", true
}

// TestExpand replaces variables, once, and tells which are not set.
func TestExpand(t *testing.T) {
	for _, test := range []struct{ text, want, wrong string }{
		{"${CARILLON_ECHO}/a", "http://here/${CARILLON_X}/a", ""},
		{"$${CARILLON_ECHO}", "${CARILLON_ECHO}", ""},
		{"${CARILLON_echo} ${HOME} ${CARILLON_ECHO", "${CARILLON_echo} ${HOME} ${CARILLON_ECHO", ""},
		{"a${CARILLON_Y}b", "ab", "list[0]: the variable CARILLON_Y is not set"},
	} {
		got, wrong := variable.Expand(listed(test.text), lookup)
		if !got.Equal(listed(test.want)) || (wrong == nil) != (test.wrong == "") || wrong != nil && wrong.Error() != test.wrong {
			t.Errorf("%s: %s, %v", test.text, got, wrong)
		}
	}
}

// TestEscape has every text come back as it was.
func TestEscape(t *testing.T) {
	for _, text := range []string{
		"", "${CARILLON_ECHO}/x", "$${CARILLON_ECHO}", "$$${CARILLON_X}${CARILLON_Y}", "${CARILLON_", "a$", "${CARILLON_${CARILLON_ECHO}",
	} {
		if got, wrong := variable.Expand(variable.Escape(listed(text)), lookup); wrong != nil || !got.Equal(listed(text)) {
			t.Errorf("%s came back as %s, %v", text, got, wrong)
		}
	}
}

// listed is a document with a text in a list.
func listed(text string) document.Value {
	return document.ObjectValue(document.Member{Name: "list", Value: document.ArrayValue(document.StringValue(text))})
}
