package expression_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/expression"
)

func TestNeedOf(t *testing.T) {
	const field = "event.data.a"
	for text, want := range map[string]expression.Need{
		`event.data.a == "x"`:                      {field, "x"},
		`'x' == event.data.a`:                      {field, "x"},
		`event.data.a == 7`:                        {field, 7.0},
		`event.data.a == -7`:                       {field, -7.0},
		`event.data.a == 7.5`:                      {field, 7.5},
		`event.data.a == true && event.data.b > 1`: {field, true},
		`event.data.b > 1 && (has(event.data.b) && event.data.a == 'x')`: {field, "x"},
		`event.attributes.type == "push"`:                                {"event.attributes.type", "push"},
		`event.name == "paid"`:                                           {"event.name", "paid"},
		`event.data.a == "x" || event.data.b`:                            {},
		`!(event.data.a == "x")`:                                         {},
		`event.data.a != "x"`:                                            {},
		`event.data.a == event.data.b`:                                   {},
		`has(event.data.a) == true`:                                      {},
		`event.data["x.y"] == 1`:                                         {},
		`event.data.a == 9007199254740993`:                               {},
		`event.data.a == null`:                                           {},
		`job.name == "x"`:                                                {},
		`[1].exists(event, event == 1)`:                                  {},
		`"x" == "x"`:                                                     {},
		`event.data.a ==`:                                                {},
		`true`:                                                           {},
	} {
		if got := expression.NeedOf(text); got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}

// TestNeedExcludes checks that a condition is false for every event with another value, and that values of other types
// are left to its evaluation.
func TestNeedExcludes(t *testing.T) {
	values := []string{`"x"`, `"7"`, `7`, `7.0`, `8`, `true`, `false`, `null`, `[7]`, `{"a":7}`, `9007199254740992`, `9007199254740993`, ``}
	for _, text := range []string{
		`event.data.a == "x"`, `event.data.a == 7`, `event.data.a == 7.0`, `event.data.a == true`, `event.data.missing && event.data.a == 7`,
		`event.data.a == 9007199254740991`, `event.data.a == 9007199254740992.0`,
	} {
		need, program := expression.NeedOf(text), must.Get(expression.Condition(text))(t)
		for _, value := range values {
			in := expression.Input{}
			if value != "" {
				d := json.NewDecoder(strings.NewReader(`{"a": ` + value + `}`))
				d.UseNumber()
				must.Do(t, d.Decode(&in.Event.Data))
			}
			got, known := in.Constant(need.Field)
			if yields, err := program.Bool(in); known && got != need.Value && (yields || err != nil) {
				t.Errorf("%s is %t (%v) for %s, though it needs %v", text, yields, err, value, need.Value)
			}
			if known != (value != "" && value != "null" && value[0] != '[' && value[0] != '{') {
				t.Errorf("the value of %s is known: %t", value, known)
			}
		}
	}
}
