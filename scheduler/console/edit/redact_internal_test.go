package edit

import (
	"slices"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/console/jobform"
)

// TestRedact removes a secret from what may be typed, in all forms of YAML, in documents and in texts that are none: the rest of
// the text stays.
func TestRedact(t *testing.T) {
	all := builtin.New(builtin.Config{})
	defer all.Close()
	form := jobform.New(scheduler.JobShape(all).Flat("properties"))
	e := &editing{section: section{form: func() *jobform.Form { return form }}}
	const typed = "typed-secret-4711"
	for _, authentication := range []string{
		"{type: Basic, username: me, password: " + typed + "}",
		"{type: Basic, username: me, password: \"" + typed + "\"}",
		"\n      type: Basic\n      username: me\n      password: " + typed,
		"\n      type: Basic\n      username: me\n      password: >-\n        " + typed + "\n        in-two-lines-4711",
		"\n      type: Basic\n      username: me\n      password: '" + typed + "\n        in-two-lines-4711'",
		"\n      type: Basic\n      username: me\n      password:\n        " + typed,
		"\n      type: Basic\n      \"password\": " + typed + "\n      username: me",
	} {
		for _, rest := range []string{"", "timeout: wrong\n", "timeout: [\n", "\t- x: [\n"} {
			e.readYAML("recurrence: {frequency: day}\naction:\n  type: https\n  request:\n    method: GET\n    uri: https://x.example/\n" +
				"    authentication: " + authentication + "\n" + rest)
			if got := e.Text.Text; strings.Contains(got, typed) || strings.Contains(got, "in-two-lines") || !strings.Contains(got, "https://x.example/") ||
				!e.Text.Redacted {
				t.Errorf("%q becomes\n%s", authentication+rest, got)
			}
			if e.Text.parsed && !slices.Equal(e.typed, []string{"action.request.authentication.password"}) {
				t.Errorf("%q: %v", authentication, e.typed)
			}
		}
	}
}
