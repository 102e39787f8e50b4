package scheduler_test

import (
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
)

// TestValidateNameNamesTheCharacter checks that messages about names refer to characters, not bytes.
func TestValidateNameNamesTheCharacter(t *testing.T) {
	for name, want := range map[string]string{
		"tür":                    `job: "tür" must not contain 'ü': letters a to z, digits, - and _ are allowed`,
		"a b":                    `job: "a b" must not contain ' ': letters, digits, - and _ are allowed`,
		"a😀":                     `job: "a😀" must not contain '😀': letters, digits, - and _ are allowed`,
		"ärger":                  `job: "ärger" must begin with a letter a to z`,
		"1st":                    `job: "1st" must begin with a letter`,
		strings.Repeat("a", 101): `job: is 101 characters long, at most 100 are allowed`,
		strings.Repeat("ü", 101): `job: is 101 characters long, at most 100 are allowed`,
		"":                       `job: must not be empty`,
		"Job-1_x":                "",
	} {
		err := scheduler.ValidateName("job", name)
		if got := strings.TrimPrefix(errText(err), "invalid: "); got != want {
			t.Errorf("%q: %s, not %s", name, got, want)
		}
	}
}

// TestKeyIn parses job keys as users write them.
func TestKeyIn(t *testing.T) {
	for _, row := range [][3]string{
		{"", "", "/"}, {"a", "", "a/"}, {"", "j", "default/j"}, {"a", "j", "a/j"}, {"a", "b/j", "b/j"}, {"", "b/j", "b/j"}, {"a", "b/j/k", "b/j/k"},
	} {
		if got := scheduler.KeyIn(row[0], row[1]).String(); got != row[2] {
			t.Errorf("%q in %q: %s, not %s", row[1], row[0], got, row[2])
		}
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
