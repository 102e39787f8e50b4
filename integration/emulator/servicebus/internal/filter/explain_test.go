package filter

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestExplain has each question of a filter with its answer and what it found.
func TestExplain(t *testing.T) {
	raw := amqp.AppendProperties(nil, amqp.Properties{Subject: "order", MessageID: "m-1"})
	raw = amqp.AppendApplicationProperties(raw, amqp.Map{
		{Key: "price", Value: int32(7)}, {Key: "colour", Value: "red"}, {Key: "sold", Value: false}, {Key: "big name", Value: "x"},
	})
	raw = amqp.AppendData(raw, []byte("body"))
	m := must.Get(amqp.ParseMessage(raw))(t)
	view := NewMessage(m, time.Unix(0, 0), 1)
	for expression, want := range map[string]string{
		"price > 10": "price > 10 false price=7",
		"price > @p": "price > @p true price=7",
		"sys.Label = 'order' AND colour <> 'red'":       "sys.Label = 'order' true sys.Label=order; colour <> 'red' false colour=red",
		"(size IS NULL) OR NOT colour LIKE 'r%'":        "size IS NULL true size=<nil>; colour LIKE 'r%' true colour=red",
		"user.size + 1 > price":                         "user.size + 1 > price unknown user.size=<nil> price=7",
		"colour NOT IN ('red', 'blue')":                 "colour NOT IN ('red', 'blue') false colour=red",
		"EXISTS(colour) AND (sold OR 1 = 2)":            "EXISTS(colour) true colour=red; sold false sold=false; 1 = 2 false",
		"sold":                                          "sold false sold=false",
		"property('big name') = 'x' AND [big name]='y'": "property('big name') = 'x' true property('big name')=x; [big name]='y' false [big name]=x",
		"price / 0 = 1":                                 "price / 0 = 1 fails division by zero price=7",
		"TRUE":                                          "TRUE true",
	} {
		f, err := ParseSQL(expression, amqp.Map{{Key: "@p", Value: int64(5)}})
		if err != nil {
			t.Fatalf("%s: %v", expression, err)
		}
		if got := told(f.Explain(view)); got != want {
			t.Errorf("%s:\n got %s\nwant %s", expression, got, want)
		}
	}
	f := must.Get(NewCorrelation(CorrelationFilter{Label: "order", SessionID: "s", Properties: amqp.Map{{Key: "price", Value: int64(7)}, {Key: "colour", Value: "it's"}}}))(t)
	want := "sys.Label = 'order' true sys.Label=order; sys.SessionId = 's' false sys.SessionId=<nil>; " +
		"price = 7 true price=7; colour = 'it''s' false colour=red"
	if got := told(f.Explain(view)); got != want {
		t.Errorf("correlation:\n got %s\nwant %s", got, want)
	}
	if got := TrueFilter().Explain(view); got != nil {
		t.Errorf("the filter for all asks %v", got)
	}
}

func told(reasons []Reason) string {
	var all []string
	for _, r := range reasons {
		words := []string{r.Question, string(r.Verdict)}
		if r.Why != "" {
			words = append(words, r.Why)
		}
		for _, f := range r.Found {
			words = append(words, fmt.Sprintf("%s=%v", f.Property, f.Value))
		}
		all = append(all, strings.Join(words, " "))
	}
	return strings.Join(all, "; ")
}
