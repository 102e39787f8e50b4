package sdk

import (
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestServiceBusRules shows filters of both kinds, and actions, as config.json has them.
func TestServiceBusRules(t *testing.T) {
	client := connect(t, `"Topics": [{"Name": "events", "Subscriptions": [
		{"Name": "red", "Rules": [{"Name": "r", "Properties": {"FilterType": "Correlation",
			"CorrelationFilter": {"Label": "red", "Properties": {"size": "big"}}}}]},
		{"Name": "sql", "Rules": [{"Name": "r", "Properties": {"FilterType": "Sql",
			"SqlFilter": {"SqlExpression": "sys.Label LIKE 'b%' AND weight + 1 > 10 OR urgent IS NOT NULL"},
			"Action": {"SqlExpression": "SET sys.To = 'crane'; SET heavy = true; REMOVE weight"}}}]},
		{"Name": "all"}]}]`)
	s := sender(t, client, "events")
	for _, message := range []*azservicebus.Message{
		{Body: []byte("1"), Subject: new("red"), ApplicationProperties: map[string]any{"size": "big"}},
		{Body: []byte("2"), Subject: new("red"), ApplicationProperties: map[string]any{"size": "small"}},
		{Body: []byte("3"), Subject: new("blue"), ApplicationProperties: map[string]any{"weight": int64(10)}},
		{Body: []byte("4"), Subject: new("blue"), ApplicationProperties: map[string]any{"weight": int64(9)}},
		{Body: []byte("5"), ApplicationProperties: map[string]any{"urgent": "yes"}},
	} {
		must.Do(t, s.SendMessage(within(t), message, nil))
	}
	for subscription, want := range map[string][]string{"red": {"1"}, "sql": {"3", "5"}, "all": {"1", "2", "3", "4", "5"}} {
		r := receiver(t, client, "events/"+subscription)
		var got []string
		for _, message := range receive(t, r, len(want)) {
			got = append(got, string(message.Body))
			if subscription == "sql" {
				_, weighs := message.ApplicationProperties["weight"]
				if *message.To != "crane" || message.ApplicationProperties["heavy"] != any(true) || weighs {
					t.Errorf("after the action: %+v", message.ApplicationProperties)
				}
			}
		}
		slices.Sort(got)
		if !cmp.Equal(want, got) {
			t.Errorf("%s: got %v, want %v", subscription, got, want)
		}
		none(t, r)
	}
}
