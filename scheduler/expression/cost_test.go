package expression_test

import (
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/expression"
)

const tooMuch = "costs too much on the present event; simplify the expression"

// TestEstimate checks the cost limit of compilation.
func TestEstimate(t *testing.T) {
	loops := func(n int) string {
		return strings.Repeat("event.data.all(a, ", n) + "a > 0" + strings.Repeat(")", n)
	}
	must.Get(expression.Condition(loops(2)))(t)
	const want = "costs too much: the estimate exceeds 1000000; simplify the expression"
	if _, err := expression.Condition(loops(3)); message(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestCost checks the limits of evaluation: each expression ends soon, and without much memory.
func TestCost(t *testing.T) {
	numbers := make([]any, 50_000)
	for i := range numbers {
		numbers[i] = float64(i)
	}
	shared := make([]any, 1000) // in the memory of one
	for i := range shared {
		shared[i] = map[string]any{"a": numbers}
	}
	in := expression.Input{Event: expression.Event{Data: map[string]any{
		"numbers": numbers, "some": numbers[:1000], "shared": shared, "text": strings.Repeat("a", 1<<20),
	}}}
	doubled := strings.Repeat(".map(a, a + a)", 200)
	for _, text := range []string{
		"event.data.numbers.all(n, n >= 0)",
		"event.data.some.all(n, event.data.some.all(m, n + m >= 0))",
		"event.data.numbers.all(n, n in event.data.numbers)",
		"event.data.shared == event.data.shared",
		"event.data.shared != event.data.shared",
		"event.data.shared.exists(s, s == event.data.shared[0] && false)",
		"[event.data.some]" + doubled + "[0].all(n, n >= 0)",
		"[[1]]" + doubled + "[0].all(n, n >= 0)",
		"[event.data.text]" + doubled + "[0] == ''",
		"event.data.text.replace('', event.data.text) == ''",
		"event.data.text.split('').join(event.data.text) == ''",
		"'%s%s'.format([event.data.text, event.data.text]) == ''",
		"sets.contains(event.data.numbers, event.data.numbers)",
		"event.data.some.all(n, math.greatest(event.data.numbers) > 0)",
		"event.data.text.matches('(a{30}){30}b')",
		"event.data.some.exists(n, event.data.text.matches('b'))",
		"event.data.some.exists(n, event.data.text.contains('b'))",
		"event.data.some.exists(n, event.data.text.size() == 1)",
		"event.data.some.exists(n, event.data.text < 'A')",
		"event.data.some.exists(n, bytes(event.data.text) == b'')",
		"event.data.some.exists(n, timestamp(event.data.text) == event.time)",
	} {
		if _, err := must.Get(expression.Condition(text))(t).Bool(in); message(err) != tooMuch {
			t.Errorf("%.80s: got %v, want %s", text, err, tooMuch)
		}
	}
	if !must.Get(must.Get(expression.Condition("event.data.some.all(n, n >= 0)"))(t).Bool(in))(t) {
		t.Error("a loop over 1,000 elements fails")
	}
}
