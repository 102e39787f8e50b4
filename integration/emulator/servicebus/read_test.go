package servicebus_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/filter"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// published is what Microsoft's documentation shows, shortened.
const published = `{
  "UserConfig": { // the only section
    "Namespaces": [ { "Name": "sbemulatorns",
      "Queues": [ { "Name": "queue.1", "Properties": {
          "DeadLetteringOnMessageExpiration": false,
          "DefaultMessageTimeToLive": "PT1H",
          "DuplicateDetectionHistoryTimeWindow": "PT20S",
          "ForwardDeadLetteredMessagesTo": "",
          "ForwardTo": "",
          "LockDuration": "PT1M",
          "MaxDeliveryCount": 3,
          "RequiresDuplicateDetection": false,
          "RequiresSession": false } } ],
      "Topics": [ { "Name": "topic.1", "Properties": {
          "DefaultMessageTimeToLive": "PT1H",
          "DuplicateDetectionHistoryTimeWindow": "PT20S",
          "RequiresDuplicateDetection": false },
        "Subscriptions": [
          { "Name": "subscription.1", "Properties": { "MaxDeliveryCount": 3, "LockDuration": "PT1M" },
            "Rules": [ { "Name": "app-prop-filter-1", "Properties": { "FilterType": "Correlation", "CorrelationFilter": {
                "ContentType": "application/text", "CorrelationId": "id1", "Label": "subject1", "MessageId": "msgid1",
                "ReplyTo": "someQueue", "ReplyToSessionId": "sessionId", "SessionId": "session1", "To": "xyz",
                "Properties": { "prop1": "value1" } } } } ] },
          { "Name": "subscription.2", "Rules": [ { "Name": "sql", "Properties": { "FilterType": "Sql",
              "SqlFilter": { "SqlExpression": "sys.MessageId = '123456' AND userProp1 = 'value1'" },
              "Action": { "SqlExpression": "SET sys.To = 'Entity'" } } } ] } /* and more */ ] } ] } ],
    "Logging": { "Type": "File" } } }`

func TestReadConfig(t *testing.T) {
	got := must.Get(servicebus.ReadConfig(strings.NewReader(published)))(t)
	want := servicebus.Queue{Name: "queue.1", Options: broker.Options{
		DefaultTTL: time.Hour, DuplicateWindow: 20 * time.Second, LockDuration: time.Minute, MaxDeliveryCount: 3,
	}}
	if diff := cmp.Diff([]servicebus.Queue{want}, got.Queues); diff != "" {
		t.Error(diff)
	}
	subscriptions := got.Topics[0].Subscriptions
	if c := subscriptions[0].Rules[0].Filter.Correlation(); c.Label != "subject1" || c.Properties.Get("prop1") != "value1" {
		t.Errorf("%+v", c)
	}
	sql := subscriptions[1].Rules[0]
	if sql.Filter.Kind() != filter.SQL || sql.Action.Expression() != "SET sys.To = 'Entity'" {
		t.Errorf("%+v", sql)
	}
}

// TestConfigProblems shows that every problem is told at once, with its path.
func TestConfigProblems(t *testing.T) {
	_, err := servicebus.ReadConfig(strings.NewReader(`{"UserConfig": {"Namespaces": [{
		"Queues": [{"Properties": {"LockDuration": "a minute"}}],
		"Topics": [{"Name": "t", "Subscriptions": [{"Name": "s", "Rules": [
			{"Name": "a", "Properties": {"FilterType": "Odd", "SqlFilter": {"SqlExpression": "a = 1"}}},
			{"Name": "b", "Properties": {"FilterType": "Sql", "SqlFilter": {"SqlExpression": "a = "}, "Action": {"SqlExpression": "PUT a"}}},
			{"Name": "c", "Properties": {"FilterType": "Sql"}},
			{"Name": "d", "Properties": {"CorrelationFilter": {"Properties": {"list": []}}}}]}]}]}]}}`))
	for _, want := range []string{
		"Namespaces[0].Queues[0].Name: is missing",
		`Namespaces[0].Queues[0].Properties.LockDuration: "a minute" is not an ISO 8601 duration`,
		"Subscriptions[0].Rules[0].Properties.FilterType", "Rules[1].Properties.SqlFilter.SqlExpression: ",
		"Rules[1].Properties.Action.SqlExpression: ",
		"Rules[2].Properties.SqlFilter: is missing", "Rules[3].Properties.CorrelationFilter",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}

// TestConfigOfWrongTypes shows that a wrong type in a correlation filter hides no other problem.
func TestConfigOfWrongTypes(t *testing.T) {
	_, err := servicebus.ReadConfig(strings.NewReader(`{"UserConfig": {"Namespaces": [{
		"Queues": [{}],
		"Topics": [{"Name": "t", "Subscriptions": [{"Name": "s", "Rules": [
			{"Name": "a", "Properties": {"CorrelationFilter": {"Label": 5, "to": [], "Unknown": 1e999}}},
			{"Name": "b", "Properties": {"CorrelationFilter": {"Properties": "p"}}},
			{"Name": "c", "Properties": {"CorrelationFilter": {"Properties": {"list": [], "": 1, "ok": true}}}}]}]}]}]}}`))
	const namespace = "UserConfig.Namespaces[0]."
	const rules = namespace + "Topics[0].Subscriptions[0].Rules"
	want := strings.Join([]string{
		namespace + "Queues[0].Name: is missing",
		rules + "[0].Properties.CorrelationFilter.Label: number is not a string",
		rules + "[0].Properties.CorrelationFilter.to: array is not a string",
		rules + "[1].Properties.CorrelationFilter.Properties: string is not an object",
		rules + `[2].Properties.CorrelationFilter.Properties: property "list" is neither text, number nor boolean`,
		rules + "[2].Properties.CorrelationFilter: a property of a correlation filter needs a name, not ",
	}, "\n")
	if got := errorText(err); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// TestConfigConflicts shows problems between fields that are right by themselves.
func TestConfigConflicts(t *testing.T) {
	const at = "UserConfig.Namespaces[0]."
	for _, test := range []struct{ namespace, want string }{
		{`"Queues": [{"Name": "a", "Properties": {"LockDuration": "PT5M"}}]`, ""},
		{`"Queues": [{"Name": "a", "Properties": {"LockDuration": "PT5M1S"}}]`, at + `Queues[0].Properties.LockDuration: "PT5M1S" is longer than PT5M`},
		{`"Queues": [{"Name": "a"}, {"Name": "A"}]`, at + `Queues[1].Name: "A" exists: ` + at + "Queues[0]"},
		{`"Queues": [{"Name": "a"}], "Topics": [{"Name": "a"}]`, at + `Topics[0].Name: "a" exists: ` + at + "Queues[0]"},
		{
			`"Topics": [{"Name": "t", "Subscriptions": [{"Name": "s"}, {"Name": "s"}]}, {"Name": "u", "Subscriptions": [{"Name": "s"}]}]`,
			at + `Topics[0].Subscriptions[1].Name: "s" exists: ` + at + "Topics[0].Subscriptions[0]",
		},
		{
			`"Topics": [{"Name": "t", "Subscriptions": [{"Name": "s", "Rules": [{"Name": "r"}, {"Name": "r"}]}]}]`,
			at + `Topics[0].Subscriptions[0].Rules[1].Name: "r" exists: ` + at + "Topics[0].Subscriptions[0].Rules[0]",
		},
		{`"Queues": [{"Name": "a", "Properties": {"ForwardTo": "A"}}]`, at + "Queues[0].Properties.ForwardTo: an entity cannot forward to itself"},
		{`"Queues": [{"Name": "a", "Properties": {"ForwardTo": "b"}}]`, at + `Queues[0].Properties.ForwardTo: there is no queue or topic "b"`},
		{`"Queues": [{"Name": "a", "Properties": {"ForwardTo": "t", "ForwardDeadLetteredMessagesTo": "sb://x/b"}}, {"Name": "b"}], "Topics": [{"Name": "t"}]`, ""},
		{
			`"Topics": [{"Name": "t", "Subscriptions": [{"Name": "s", "Properties": {"ForwardDeadLetteredMessagesTo": "b"}}]}]`,
			at + `Topics[0].Subscriptions[0].Properties.ForwardDeadLetteredMessagesTo: there is no queue or topic "b"`,
		},
	} {
		_, err := servicebus.ReadConfig(strings.NewReader(`{"UserConfig": {"Namespaces": [{` + test.namespace + `}]}}`))
		if got := errorText(err); got != test.want {
			t.Errorf("%s\n got %q\nwant %q", test.namespace, got, test.want)
		}
	}
}

// TestConfigOfAnotherKind shows that a file which is none is not taken for one without entities.
func TestConfigOfAnotherKind(t *testing.T) {
	_, err := servicebus.ReadConfig(strings.NewReader(`{"name": "package", "dependencies": {}}`))
	if got := errorText(err); got != "UserConfig is missing: this is not a config.json of Microsoft's emulator" {
		t.Error(got)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func FuzzReadConfig(f *testing.F) {
	f.Add(published)
	f.Add(`"// in a string" /* not closed`)
	f.Fuzz(func(_ *testing.T, text string) {
		_, _ = servicebus.ReadConfig(strings.NewReader(text))
	})
}
