package expression_test

import (
	"encoding/json"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/scheduler/expression"
	"github.com/carillon-sched/carillon/scheduler/internal/climb"
)

// FuzzCondition compiles any text and evaluates it on any data: nothing panics or takes long, and messages are short and
// valid UTF-8.
func FuzzCondition(f *testing.F) {
	const data = `{"total": 7, "id": "a", "note": null, "items": [{"price": 1.5}], "a-b": {"c": true}}`
	for _, text := range []string{
		"event.data.total > 100", "event.data.items.exists(i, i.price > 1)", "event.data['a-b'].c", "event.data.id.matches('a{30}')",
		"has(event.data.total) && event.attributes.x == ''", "event.data.items[0].price in [1.5]", "event{} == event", "job.data",
		"'%s'.format([event.data]) == event.data.id.replace('a', event.topic)", "timestamp(event.data.id) < event.time",
		"[event.data].map(a, a + a)[0] == null", "sets.contains([1], event.data.items)", "math.greatest(event.data.total, 1) > 0",
		"event.data.note.x ? 1 : event.sequence", "b'\\xff' == bytes(event.id)", "\"\xff\" == '", "((((", "google.protobuf.Any{}",
	} {
		f.Add(text, data)
	}
	f.Add("event.data == event.data", `[[[[{"a": [1e308]}]]]]`)
	f.Fuzz(func(t *testing.T, text, data string) {
		in := expression.Input{Event: expression.Event{
			ID: data, Topic: text, Time: time.Unix(1e9, 0), Attributes: map[string]string{"x": data},
		}}
		if err := json.Unmarshal([]byte(data), &in.Event.Data); err != nil {
			in.Event.Data = data
		}
		in.Job = map[string]any{"data": in.Event.Data}
		cost := climb.Measure(func() { evaluate(t, text, in) })
		if cost.Processor > time.Second { // of this thread: other programs do not count
			t.Errorf("%q took %v", text, cost.Processor)
		}
	})
}

// evaluate compiles and evaluates a text as each kind of expression.
func evaluate(t *testing.T, text string, in expression.Input) {
	t.Helper()
	if p, err := expression.Condition(text); err != nil {
		checkMessage(t, err.Error())
	} else {
		_, err := p.Bool(in)
		checkMessage(t, message(err))
		checkMessage(t, p.Explain(in))
	}
	if p, err := expression.Text(text); err == nil {
		key, err := p.Text(in)
		checkMessage(t, message(err))
		if len(key) > 256 || !utf8.ValidString(key) {
			t.Errorf("got the key %q", key)
		}
	}
	if p, err := expression.Instant(text); err == nil {
		_, err := p.Instant(in)
		checkMessage(t, message(err))
	}
}

// checkMessage checks a text for people. It may contain five paths of the expression.
func checkMessage(t *testing.T, text string) {
	t.Helper()
	if len(text) > 3*4096 || !utf8.ValidString(text) {
		t.Errorf("got %d bytes: %.300q", len(text), text)
	}
}
