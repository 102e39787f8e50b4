package jobfile_test

import (
	"testing"

	"github.com/carillon-sched/carillon/cmd/carillon/jobfile"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/variable"
)

// TestEscape reads back texts that look like variables.
func TestEscape(t *testing.T) {
	for _, text := range []string{
		"${CARILLON_ECHO}/x", "$${CARILLON_ECHO}", "$$${CARILLON_X}${CARILLON_Y}", "${CARILLON_", "${CARILLON_lower}",
		"a$", "${HOME} $1", "${CARILLON_${CARILLON_ECHO}",
	} {
		v := document.ObjectValue(document.Member{Name: "name", Value: document.StringValue("job")},
			document.Member{Name: "list", Value: document.ArrayValue(document.StringValue(text))})
		tree(t, map[string]string{"a.yaml": string(variable.Escape(v).YAML())})
		jobs, problems := jobfile.Reader{Lookup: variables}.Read([]string{"a.yaml"})
		if len(problems) > 0 || len(jobs) != 1 || string(jobs[0].Body) != v.String() {
			t.Errorf("%s: got %s, %v", text, variable.Escape(v), problems)
		}
	}
}
