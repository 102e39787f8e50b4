package expression_test

import (
	"encoding/json"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/expression"
)

// order returns an event with data of all JSON types.
func order(t must.Test) expression.Input {
	const text = `{"total": 7, "id": "a-1", "paid": true, "note": null, "due": "2026-03-01T12:00:00+01:00", "big": 1234567890,
		"items": [{"price": 1.5}, {"price": 20}], "ship-to": {"city": "Köln"}}`
	var data any
	must.Do(t, json.Unmarshal([]byte(text), &data))
	return expression.Input{
		Event: expression.Event{
			ID: "e1", Topic: "orders", Collection: "shop", Name: "created", Sequence: 42,
			Time:       time.Date(2026, 2, 3, 4, 5, 6, 0, time.FixedZone("", 3600)),
			Attributes: map[string]string{"region": "eu"}, Data: data,
		},
		Job: map[string]any{"name": "bill", "labels": map[string]string{"team": "red"}, "data": map[string]any{"least": 5.0}},
	}
}

func TestBool(t *testing.T) {
	tests := []struct {
		text string
		want bool
		err  string
	}{
		{text: "event.data.total > 5", want: true},
		{text: "event.data.total > 6.5 && event.data.total < 7u + 1u && event.data.total == 7", want: true},
		{text: "event.data.total > job.data.least", want: true},
		{text: "event.data.total > 100"},
		{text: "event.id == 'e1' && event.topic == 'orders' && event.collection == 'shop' && event.name == 'created'", want: true},
		{text: "event.sequence == 42 && event.sequence % 2 == 0", want: true},
		{text: "event.time > timestamp('2026-01-01T00:00:00Z') && event.time.getHours() == 3", want: true},
		{text: "event.attributes.region == 'eu' && event.attributes['region'] in ['eu', 'us']", want: true},
		{text: "event.data.items.exists(i, i.price > 10)", want: true},
		{text: "event.data.items.map(i, i.price) == [1.5, 20.0]", want: true},
		{text: "event.data['ship-to'].city == 'Köln'", want: true},
		{text: "event.data.items == event.data.items && event.data.items != event.data.id", want: true},
		{text: "event.data.id.matches('^a-[0-9]+$') && !event.data.id.matches(event.name)", want: true},
		{text: "event.data.id.replace('-', '_').upperAscii() == 'A_1' && event.data.id.split('-').join('+') == 'a+1'", want: true},
		{text: "'%s: %d'.format([event.id, 7]) == 'e1: 7'", want: true},
		{text: "math.greatest(event.data.total, 3) == 7.0 && sets.contains(['red', 'blue'], [job.labels.team])", want: true},
		{text: "has(event.data) && has(event.data.total) && !has(event.data.nope) && !has(job.collection)", want: true},
		{text: "event.data.nope == 1 || event.data.paid", want: true},
		{text: "event == event && event.data.paid", want: true},
		{text: "[event.sequence].exists(event, event == 42)", want: true},
		{text: "event.data.nope > 1", err: "event.data.nope is missing"},
		{text: "event.data.nope.deep > 1", err: "event.data.nope is missing"},
		{text: "event.data.note.deep > 1", err: "event.data.note is null"},
		{text: "event.data['ship-to'].zip == ''", err: `event.data["ship-to"].zip is missing`},
		{text: "event.data.items[2].price > 1", err: "event.data.items[2] is missing"},
		{text: "event.attributes.zone == ''", err: "event.attributes.zone is missing"},
		{text: "job.collection == ''", err: "job.collection is missing"},
		{text: "event.data.id > 1", err: `an operator or function does not accept its values; event.data.id is "a-1"`},
		{text: "event.id.matches(event.data.total)", err: "an operator or function does not accept its values; " +
			`event.id is "e1", event.data.total is 7`},
		{text: "event.data.total", err: "must yield a bool, got double; event.data.total is 7"},
		{text: "event.sequence / 0 == 1", err: "division by zero; event.sequence is 42"},
		{text: "event.id.matches(event.attributes.region + '(')", err: "error parsing regexp: missing closing ): `eu(`; " +
			`event.id is "e1", event.attributes.region is "eu"`},
	}
	for _, test := range tests {
		program := must.Get(expression.Condition(test.text))(t)
		got, err := program.Bool(order(t))
		if got != test.want || message(err) != test.err {
			t.Errorf("%s: got %v, %v, want %v, %s", test.text, got, err, test.want, test.err)
		}
		if program.String() != test.text {
			t.Errorf("got the text %q, want %q", program, test.text)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestText(t *testing.T) {
	tests := []struct{ text, want, err string }{
		{text: "event.data.id", want: "a-1"},
		{text: "event.data.total", want: "7"},
		{text: "event.data.big", want: "1234567890"},
		{text: "event.data.items[0].price", want: "1.5"},
		{text: "1e30", want: "1e+30"},
		{text: "event.sequence", want: "42"},
		{text: "7u", want: "7"},
		{text: "event.data.paid", want: "true"},
		{text: "event.time", want: "2026-02-03T03:05:06Z"},
		{text: "event.attributes.region + '/' + event.data.id", want: "eu/a-1"},
		{text: "event.data.nope", err: "event.data.nope is missing"},
		{text: "event.data.note", err: "must yield a string, number, bool or timestamp, got null; event.data.note is null"},
		{text: "event.data.items", err: "must yield a string, number, bool or timestamp, got list(dyn); " +
			"event.data.items is a list of length 2"},
		{text: "'" + strings.Repeat("x", 257) + "'", err: "must yield at most 256 bytes, got 257"},
	}
	for _, test := range tests {
		got, err := must.Get(expression.Text(test.text))(t).Text(order(t))
		if got != test.want || message(err) != test.err {
			t.Errorf("%s: got %q, %v, want %q, %s", test.text, got, err, test.want, test.err)
		}
	}
}

func TestInstant(t *testing.T) {
	tests := []struct{ text, want, err string }{
		{text: "event.time", want: "2026-02-03T03:05:06Z"},
		{text: "event.time + duration('24h')", want: "2026-02-04T03:05:06Z"},
		{text: "duration('90m')", want: "2026-02-03T04:35:06Z"},
		{text: "event.data.due", want: "2026-03-01T11:00:00Z"},
		{text: "timestamp(event.data.due) - duration('1h')", want: "2026-03-01T10:00:00Z"},
		{text: "timestamp(int(event.data.big))", want: "2009-02-13T23:31:30Z"},
		{text: "event.data.id", err: `must yield an RFC 3339 time, got "a-1"`},
		{text: "event.data.total", err: "must yield a timestamp, RFC 3339 string or duration, got double; event.data.total is 7"},
		{text: "'0000-01-01T00:00:00Z'", err: "must yield a year between 1 and 9999, got 0"},
	}
	for _, test := range tests {
		got, err := must.Get(expression.Instant(test.text))(t).Instant(order(t))
		if message(err) != test.err || err == nil && got.Format(time.RFC3339) != test.want {
			t.Errorf("%s: got %v, %v, want %s, %s", test.text, got, err, test.want, test.err)
		}
	}
}

// TestNumbers checks that whole numbers beyond the precision of a double keep their digits if the decoder kept them.
func TestNumbers(t *testing.T) {
	data := map[string]any{
		"small": json.Number("7"), "half": json.Number("7.5"), "huge": json.Number("12345678901234567"), "bad": json.Number("x"),
		"nan": math.NaN(), "int": 3, "items": []any{map[string]any{"n": json.Number("2")}},
	}
	in := expression.Input{Event: expression.Event{Data: data, Sequence: math.MaxUint64}}
	for text, want := range map[string]string{
		"event.data.small * 2.0": "14", "event.data.half * 2.0": "15", "event.data.huge": "12345678901234567",
		"event.data.items[0].n": "2", "event.data.int": "3", "event.data.nan": "NaN", "event.sequence": "9223372036854775807",
	} {
		if got := must.Get(must.Get(expression.Text(text))(t).Text(in))(t); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	if _, err := must.Get(expression.Text("event.data.bad"))(t).Text(in); err == nil {
		t.Error("a damaged number has no error")
	}
}

// TestEmptyInput evaluates without an event and without a job.
func TestEmptyInput(t *testing.T) {
	for text, want := range map[string]string{
		"event.data.total > 1": "event.data is null", "job.name == ''": "job.name is missing", "event.data == null": "",
		"event.attributes.a == ''": "event.attributes.a is missing",
	} {
		if _, err := must.Get(expression.Condition(text))(t).Bool(expression.Input{}); message(err) != want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

func TestInvalidUTF8(t *testing.T) {
	in := expression.Input{Event: expression.Event{Data: "a\xffb", ID: "\xff"}}
	if _, err := must.Get(expression.Text("event.data"))(t).Text(in); message(err) != "must yield valid UTF-8" {
		t.Errorf("got %v", err)
	}
	program := must.Get(expression.Condition("event.data.matches('^a') && event.id.size() == 2"))(t)
	if got, want := program.Explain(in), `event.data is "a\xffb", event.id is "\xff"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	must.Get(program.Bool(in))(t)
}

func TestConcurrentUse(t *testing.T) {
	program := must.Get(expression.Condition("event.data.total > 5 && event.data.id.matches('^a') && [1] + [2] == [1, 2]"))(t)
	in := order(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if ok, err := program.Bool(in); !ok || err != nil {
					t.Errorf("got %v, %v", ok, err)
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkBool(b *testing.B) {
	program := must.Get(expression.Condition("event.data.total > 100 && event.attributes.region == 'eu'"))(b)
	in := order(b)
	b.ReportAllocs()
	for b.Loop() {
		must.Get(program.Bool(in))(b)
	}
}

func BenchmarkCondition(b *testing.B) {
	for b.Loop() {
		must.Get(expression.Condition("event.data.total > 100 && event.attributes.region == 'eu'"))(b)
	}
}
