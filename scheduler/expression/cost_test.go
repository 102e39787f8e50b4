package expression_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/expression"
)

const tooMuch = "costs too much on the present event; simplify the expression"

// TestLoops checks the cost limit of compilation.
func TestLoops(t *testing.T) {
	loops := func(n int) string {
		return strings.Repeat("event.data.all(a, ", n) + "a > 0" + strings.Repeat(")", n)
	}
	must.Get(expression.Condition(loops(3)))(t)
	for text, at := range map[string]string{
		loops(4): "1:69", "[[1]]" + strings.Repeat(".map(a, a + a)", 200) + "[0] == []": "1:10",
	} {
		want := at + ": costs too much: at most 3 loops (all, exists, map, filter) nest or follow each other"
		if _, err := expression.Condition(text); message(err) != want {
			t.Errorf("%.80s: got %v, want %s", text, err, want)
		}
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
	keys, catalogue := make([]any, 1000), map[string]any{}
	for i := range keys {
		keys[i] = fmt.Sprintf("k%d", i)
		catalogue[keys[i].(string)] = numbers[:100]
	}
	in := expression.Input{Event: expression.Event{Data: map[string]any{
		"keys": keys, "catalogue": catalogue,
		"numbers": numbers, "some": numbers[:1000], "shared": shared, "text": strings.Repeat("a", 1<<20),
	}}}
	wide := strings.Repeat(".map(a, ["+strings.Repeat("a, ", 99)+"a])", 3)
	for _, text := range []string{
		"event.data.numbers.all(n, n >= 0)",
		"event.data.some.all(n, event.data.some.all(m, n + m >= 0))",
		"event.data.numbers.all(n, n in event.data.numbers)",
		"event.data.shared == event.data.shared",
		"event.data.shared != event.data.shared",
		"event.data.shared.exists(s, s == event.data.shared[0] && false)",
		"event.data.shared.exists(s, s in event.data.shared && false)",
		"[event.data.some]" + wide + "[0] == [event.data.some]" + wide + "[0]",
		"[event.data.text" + strings.Repeat(" + event.data.text", 200) + "] == ['']",
		"event.data.text.replace('', event.data.text) == ''",
		"event.data.text.split('').join(event.data.text) == ''",
		"'%s%s'.format([event.data.text, event.data.text]) == ''",
		"sets.contains(event.data.numbers, event.data.numbers)",
		"event.data.some.all(n, math.greatest(event.data.numbers) > 0)",
		"event.data.text.indexOf(event.data.text + 'b') > 0",
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
	for _, text := range []string{
		"event.data.some.all(n, n >= 0)",
		"event.data.keys.all(k, k in event.data.catalogue)",
		"event.data.some.all(n, size(event.data.some) > 2 && event.data.some.size() > 2)",
		"event.data.some.all(n, size(event.data.catalogue) > 2)",
		"event.data.keys.all(k, 'k0' in event.data.shared[0] || size(event.data.shared) > 2)",
		"!event.data.keys.all(k, k in event.data.keys)", // each costs a tenth of the length
	} {
		_, err := must.Get(expression.Condition(text))(t).Bool(in)
		if want := map[bool]string{true: tooMuch}[strings.HasPrefix(text, "!")]; message(err) != want {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}
