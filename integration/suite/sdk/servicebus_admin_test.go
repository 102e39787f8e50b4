package sdk

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"
	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// plainHTTP lets the administration client, which insists on HTTPS, speak to a server without.
type plainHTTP struct{}

// Do sends the request without TLS.
func (plainHTTP) Do(r *http.Request) (*http.Response, error) {
	r.URL.Scheme = "http"
	return http.DefaultClient.Do(r)
}

func administer(t *testing.T, server *servicebus.Server) *admin.Client {
	t.Helper()
	client := must.Get(admin.NewClientFromConnectionString(server.AdminConnectionString(), &admin.ClientOptions{
		ClientOptions: azcore.ClientOptions{Transport: plainHTTP{}},
	}))(t)
	return client
}

func TestServiceBusAdminTopics(t *testing.T) {
	server := startBus(t, queue("q", ""))
	client := administer(t, server)
	must.Get(client.CreateTopic(within(t), "events/today", &admin.CreateTopicOptions{Properties: &admin.TopicProperties{
		RequiresDuplicateDetection: new(true),
	}}))(t)
	must.Get(client.CreateSubscription(within(t), "events/today", "s", &admin.CreateSubscriptionOptions{
		Properties: &admin.SubscriptionProperties{
			MaxDeliveryCount: new(int32(3)),
			DefaultRule:      &admin.RuleProperties{Name: "only", Filter: &admin.SQLFilter{Expression: "a = @a", Parameters: map[string]any{"@a": "x"}}},
		},
	}))(t)
	must.Get(client.CreateRule(within(t), "events/today", "s", &admin.CreateRuleOptions{
		Name:   new("second"),
		Filter: &admin.CorrelationFilter{Subject: new("l"), ApplicationProperties: map[string]any{"n": int64(5), "b": true, "s": "x"}},
		Action: &admin.SQLAction{Expression: "SET c = 'd'"},
	}))(t)
	rules := map[string]admin.RuleProperties{}
	for pager := client.NewListRulesPager("events/today", "s", nil); pager.More(); {
		page := must.Get(pager.NextPage(within(t)))(t)
		for _, rule := range page.Rules {
			rules[rule.Name] = rule
		}
	}
	if diff := cmp.Diff(map[string]admin.RuleProperties{
		"only": {Name: "only", Filter: &admin.SQLFilter{Expression: "a = @a", Parameters: map[string]any{"@a": "x"}}},
		"second": {
			Name:   "second",
			Filter: &admin.CorrelationFilter{Subject: new("l"), ApplicationProperties: map[string]any{"n": int64(5), "b": true, "s": "x"}},
			Action: &admin.SQLAction{Expression: "SET c = 'd'"},
		},
	}, rules); diff != "" {
		t.Error(diff)
	}
	bus := dial(t, server)
	send(t, bus, "events/today", text("no"))
	topic := must.Get(client.GetTopicRuntimeProperties(within(t), "events/today", nil))(t)
	if topic.SubscriptionCount != 1 {
		t.Errorf("%+v", topic)
	}
	must.Get(client.UpdateRule(within(t), "events/today", "s", admin.RuleProperties{Name: "only", Filter: &admin.TrueFilter{}}))(t)
	must.Get(client.DeleteRule(within(t), "events/today", "s", "second", nil))(t)
	send(t, bus, "events/today", text("yes"))
	r := must.Get(bus.NewReceiverForSubscription("events/today", "s", nil))(t)
	one(t, r, "yes")
	must.Get(client.DeleteSubscription(within(t), "events/today", "s", nil))(t)
	must.Get(client.DeleteTopic(within(t), "events/today", nil))(t)
}

func TestServiceBusAdminCounts(t *testing.T) {
	server := startBus(t, queue("orders", ""))
	bus := dial(t, server)
	for _, body := range []string{"a", "b", "c"} {
		send(t, bus, "orders", text(body))
	}
	later := text("later")
	later.ScheduledEnqueueTime = new(time.Now().Add(time.Hour))
	send(t, bus, "orders", later)
	r := receiver(t, bus, "orders")
	must.Do(t, r.DeadLetterMessage(within(t), one(t, r, "a"), nil))
	got := must.Get(administer(t, server).GetQueueRuntimeProperties(within(t), "orders", nil))(t)
	if got.ActiveMessageCount != 2 || got.DeadLetterMessageCount != 1 || got.ScheduledMessageCount != 1 || got.TotalMessageCount != 4 {
		t.Errorf("%+v", got)
	}
	if got.SizeInBytes == 0 || time.Since(got.CreatedAt) > time.Minute || time.Since(got.AccessedAt) > time.Minute {
		t.Errorf("%+v", got)
	}
}

func TestServiceBusNamespace(t *testing.T) {
	got := must.Get(administer(t, startBus(t, queue("q", ""))).GetNamespaceProperties(within(t), nil))(t)
	if got.Name != "sbemulatorns" {
		t.Errorf("%+v", got)
	}
}

// TestServiceBusAdminAsTheService shows what clients read beyond the settings, and that refusals are in the words of the service.
func TestServiceBusAdminAsTheService(t *testing.T) {
	server := startBus(t, queue("target", ""))
	client := administer(t, server)
	rules := []admin.AuthorizationRule{{
		AccessRights: []admin.AccessRight{admin.AccessRightSend, admin.AccessRightListen}, KeyName: new("mine"),
		PrimaryKey: new("cHJpbWFyeQ=="), SecondaryKey: new("c2Vjb25kYXJ5"),
	}}
	forward, dead := "sb://"+server.HTTPAddr()+"/target", "https://"+server.HTTPAddr()+"/target" // clients use either
	properties := &admin.QueueProperties{ForwardTo: &forward, ForwardDeadLetteredMessagesTo: &dead, AuthorizationRules: rules}
	made, err := client.CreateQueue(within(t), "made", &admin.CreateQueueOptions{Properties: properties})
	must.Do(t, err)
	if *made.ForwardTo != forward || *made.ForwardDeadLetteredMessagesTo != dead {
		t.Errorf("forwards to %s and %s, want %s and %s", *made.ForwardTo, *made.ForwardDeadLetteredMessagesTo, forward, dead)
	}
	must.Get(client.CreateQueue(within(t), "way", &admin.CreateQueueOptions{Properties: properties}))(t)
	bus := dial(t, server)
	send(t, bus, "way", text("on"))
	one(t, receiver(t, bus, "target"), "on")
	got := must.Get(client.GetQueue(within(t), "made", nil))(t)
	if diff := cmp.Diff(rules, got.AuthorizationRules); diff != "" {
		t.Error(diff)
	}
	state := must.Get(client.GetQueueRuntimeProperties(within(t), "made", nil))(t)
	if !state.AccessedAt.IsZero() {
		t.Error("accessed at", state.AccessedAt, "by nobody")
	}
	got.ForwardTo, got.ForwardDeadLetteredMessagesTo, got.AuthorizationRules = nil, nil, nil
	must.Get(client.UpdateQueue(within(t), "made", got.QueueProperties, nil))(t)
	got = must.Get(client.GetQueue(within(t), "made", nil))(t)
	if got.ForwardTo != nil || got.ForwardDeadLetteredMessagesTo != nil || got.AuthorizationRules != nil {
		t.Errorf("not removed: %+v", got.QueueProperties)
	}
	got.RequiresSession = new(true)
	_, err = client.UpdateQueue(within(t), "made", got.QueueProperties, nil)
	wantText(t, err, "The value for the RequiresSession property of an existing Queue cannot be changed")

	topic := must.Get(client.CreateTopic(within(t), "events", &admin.CreateTopicOptions{
		Properties: &admin.TopicProperties{AuthorizationRules: rules},
	}))(t)
	if diff := cmp.Diff(rules, topic.AuthorizationRules); diff != "" {
		t.Error(diff)
	}
	topic.EnablePartitioning = new(true)
	_, err = client.UpdateTopic(within(t), "events", topic.TopicProperties, nil)
	wantText(t, err, "Partitioning cannot be changed for Topic. ")
	_, err = client.UpdateTopic(within(t), "nothing", topic.TopicProperties, nil)
	wantText(t, err, "404 Not Found")
	subscription := must.Get(client.CreateSubscription(within(t), "events", "all", nil))(t)
	subscription.RequiresSession = new(true)
	_, err = client.UpdateSubscription(within(t), "events", "all", subscription.SubscriptionProperties, nil)
	wantText(t, err, "The value for the RequiresSession property of an existing Subscription cannot be changed")

	must.Get(client.CreateRule(within(t), "events", "all", &admin.CreateRuleOptions{
		Name: new("correlation"), Filter: &admin.CorrelationFilter{Subject: new("x")},
		Action: &admin.SQLAction{Expression: "SET a=@a SET b=2", Parameters: map[string]any{"@a": "x"}},
	}))(t)
	counts := must.Get(client.GetTopicRuntimeProperties(within(t), "events", nil))(t)
	if counts.SQLFilterCount != 1 || counts.CorrelationFilterCount != 1 {
		t.Errorf("%d and %d filters, want the default one and another", counts.SQLFilterCount, counts.CorrelationFilterCount)
	}
}

// wantText checks that an error says something.
func wantText(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("got %v, want %q", err, text)
	}
}
