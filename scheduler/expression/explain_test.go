package expression_test

import (
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/expression"
)

func TestExplain(t *testing.T) {
	tests := []struct{ text, want string }{
		{"event.data.total > 100", "event.data.total is 7"},
		{"event.data.total > 100 || event.data.total < 1", "event.data.total is 7"},
		{"event.data != null && event.data.total > 100", "event.data.total is 7"},
		{"has(event.data.total) && event.data.nope > 1", "event.data.total is 7, event.data.nope is missing"},
		{"event.data.items[1]['price'] > 100", "event.data.items[1].price is 20"},
		{"event.data.items.exists(i, i.price > 100)", "event.data.items is a list of length 2"},
		{"event.data['ship-to'] == 1", `event.data["ship-to"] is an object of 1 fields`},
		{"event.data.paid || event.data.note == 1", "event.data.paid is true, event.data.note is null"},
		{"event.time == event.time && event.sequence == 1", "event.time is 2026-02-03T03:05:06Z, event.sequence is 42"},
		{"event.attributes.region == 'us'", `event.attributes.region is "eu"`},
		{"job.name == 'other'", ""},
		{"[1].exists(event, event == 2)", ""},
		{
			"event.id == '' || event.topic == '' || event.name == '' || event.collection == '' || event.sequence == 1 ||" +
				"event.data.total == 1 || event.data.id == ''",
			`event.id is "e1", event.topic is "orders", event.name is "created", event.collection is "shop", ` +
				"event.sequence is 42, 2 more",
		},
	}
	for _, test := range tests {
		if got := must.Get(expression.Condition(test.text))(t).Explain(order(t)); got != test.want {
			t.Errorf("%s: got %s, want %s", test.text, got, test.want)
		}
	}
}

func TestExplainCutsValues(t *testing.T) {
	program := must.Get(expression.Condition("event.data == ''"))(t)
	in := expression.Input{Event: expression.Event{Data: strings.Repeat("x", 63) + "ö" + strings.Repeat("x", 1000)}}
	if got, want := program.Explain(in), `event.data is "`+strings.Repeat("x", 63)+`…"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
