package servicebus_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// description is the body of a request to make an entity.
func description(kind, members string) string {
	return `<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><` + kind +
		` xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">` + members + `</` + kind + `></content></entry>`
}

// TestTiers makes entities in namespaces of each tier.
func TestTiers(t *testing.T) {
	const queue, topic = "QueueDescription", "TopicDescription"
	cannot := func(property, kind, tier string) string {
		return "The property '" + property + "' cannot be set when creating a " + kind + " because the namespace 'sbemulatorns' is using '" +
			tier + "' tier."
	}
	const sizes = "The value of MaxSizeInMegabytes should be one of the following values: 1024;2048;3072;4096;5120."
	for _, test := range []struct {
		kind, members            string
		basic, standard, premium string // why not; "" is possible
	}{
		{queue, "", "", "", ""},
		{topic, "", "Cannot operate on type Topic because the namespace 'sbemulatorns' is using 'Basic' tier.", "", ""},
		{queue, "<RequiresSession>true</RequiresSession>", cannot("RequiresSession", "Queue", "Basic"), "", ""},
		{queue, "<RequiresDuplicateDetection>true</RequiresDuplicateDetection>", cannot("RequiresDuplicateDetection", "Queue", "Basic"), "", ""},
		{queue, "<AutoDeleteOnIdle>PT5M</AutoDeleteOnIdle>", cannot("AutoDeleteOnIdle", "Queue", "Basic"), "", ""},
		{queue, "<AutoDeleteOnIdle>P10675199DT2H48M5.4775807S</AutoDeleteOnIdle>", "", "", ""},
		{queue, "<ForwardTo>other</ForwardTo>", cannot("ForwardTo", "Queue", "Basic"), "", ""},
		{queue, "<EnableExpress>true</EnableExpress>", "", "", cannot("EnableExpress", "Queue", "Premium")},
		{queue, "<DefaultMessageTimeToLive>P15D</DefaultMessageTimeToLive>", "more than 14 days", "", ""},
		{queue, "<MaxSizeInMegabytes>5120</MaxSizeInMegabytes>", "", "", ""},
		{queue, "<MaxSizeInMegabytes>81920</MaxSizeInMegabytes>", sizes, sizes, ""},
		{queue, "<MaxSizeInMegabytes>1000</MaxSizeInMegabytes>", sizes, sizes, sizes},
		{queue, "<MaxMessageSizeInKilobytes>256</MaxMessageSizeInKilobytes>", "", "", ""},
		{
			queue, "<MaxMessageSizeInKilobytes>102400</MaxMessageSizeInKilobytes>",
			cannot("MaxMessageSizeInKilobytes", "Queue", "Basic"), cannot("MaxMessageSizeInKilobytes", "Queue", "Standard"), "",
		},
		{
			queue, "<MaxMessageSizeInKilobytes>102401</MaxMessageSizeInKilobytes>",
			cannot("MaxMessageSizeInKilobytes", "Queue", "Basic"), cannot("MaxMessageSizeInKilobytes", "Queue", "Standard"), "is more than 102400",
		},
	} {
		for tier, want := range map[servicebus.Tier]string{
			"": "", servicebus.Basic: test.basic, servicebus.Standard: test.standard, servicebus.Premium: test.premium,
		} {
			t.Run(fmt.Sprintf("%s %s %s", tier, test.kind, test.members), func(t *testing.T) {
				server := start(t, servicebus.Config{Tier: tier})
				response, body := speak(t, server, ask("PUT /e?api-version=2021-05", "", description(test.kind, test.members)))
				if want == "" && response.StatusCode != http.StatusCreated ||
					want != "" && (response.StatusCode != http.StatusBadRequest || !strings.Contains(body, want)) {
					t.Errorf("%d %s, want %q", response.StatusCode, body, want)
				}
				_, info := wantStatus(t, server, ask("GET /$namespaceinfo?api-version=2021-05", "", ""), http.StatusOK)
				if sku := "<MessagingSKU>" + string(tier); !strings.Contains(info, sku) {
					t.Errorf("no %s in %s", sku, info)
				}
			})
		}
	}
}

// TestTierMessageSize sends messages of the largest size and one byte more, by AMQP and by REST.
func TestTierMessageSize(t *testing.T) {
	server := startREST(t, servicebus.Config{Tier: servicebus.Standard})
	sender := must.Get(connect(t, server.ConnectionString()).NewSender("q", nil))(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for size, fits := range map[int]bool{255 << 10: true, 256 << 10: false} {
		err := sender.SendMessage(ctx, &azservicebus.Message{Body: make([]byte, size)}, nil)
		if (err == nil) != fits || err != nil && !errors.Is(err, azservicebus.ErrMessageTooLarge) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	batch := must.Get(sender.NewMessageBatch(ctx, nil))(t)
	message := &azservicebus.Message{Body: bytes.Repeat([]byte("x"), 100<<10)}
	for i := range 3 {
		if err := batch.AddMessage(message, nil); (err == nil) != (i < 2) {
			t.Errorf("message %d of a batch: %v", i, err)
		}
	}
	wantStatus(t, server, ask("POST /q/messages", "", strings.Repeat("x", 255<<10)), http.StatusCreated)
	wantStatus(t, server, ask("POST /q/messages", "", strings.Repeat("x", 256<<10)), http.StatusForbidden)
	for name, test := range map[string]struct {
		properties map[string]any
		fits       bool
	}{
		"a property":     {map[string]any{"a": strings.Repeat("x", 32<<10-5)}, true},
		"a large one":    {map[string]any{"a": strings.Repeat("x", 32<<10)}, false},
		"some":           {map[string]any{"a": strings.Repeat("x", 30<<10), "b": strings.Repeat("x", 30<<10)}, true},
		"large together": {map[string]any{"a": strings.Repeat("x", 30<<10), "b": strings.Repeat("x", 30<<10), "c": strings.Repeat("x", 5<<10)}, false},
	} {
		err := sender.SendMessage(ctx, &azservicebus.Message{ApplicationProperties: test.properties}, nil)
		if (err == nil) != test.fits {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTierCounts fills a namespace with what may be in it: subscriptions and filters of a topic, and entities.
func TestTierCounts(t *testing.T) {
	server := startREST(t, servicebus.Config{Tier: servicebus.Premium})
	b := server.Broker()
	var err error
	for i := 0; err == nil && i < 3000; i++ {
		_, err = b.CreateSubscription("t", fmt.Sprintf("s%d", i), servicebus.SubscriptionOptions{}, nil)
	}
	topic, _ := b.Entity("t")
	if topic.Subscriptions != 2000 || err == nil || !strings.Contains(err.Error(), "amqp:resource-limit-exceeded") {
		t.Errorf("%d subscriptions, %v", topic.Subscriptions, err)
	}
	err = nil
	for i := 0; err == nil && i < 3000; i++ {
		_, err = b.CreateQueue(fmt.Sprintf("q%d", i), servicebus.QueueOptions{})
	}
	if n := len(b.Entities()) - topic.Subscriptions; n != 1000 || err == nil || !strings.Contains(err.Error(), "queues and topics") {
		t.Errorf("%d queues and topics, %v", n, err)
	}
	wantStatus(t, server, ask("PUT /t/Subscriptions/s1/Rules/r?api-version=2021-05", "", description("RuleDescription", "")), http.StatusForbidden)
	must.Do(t, b.Delete("t/Subscriptions/s0"))
	wantStatus(t, server, ask("PUT /t/Subscriptions/s1/Rules/r?api-version=2021-05", "", description("RuleDescription", "")), http.StatusCreated)
}

// TestSizesOutOfRange gives sizes that no entity can have. Each is an error that names its element.
func TestSizesOutOfRange(t *testing.T) {
	server := startREST(t, servicebus.Config{})
	for _, size := range []string{"-1", "1099511627776"} {
		for _, name := range []string{"MaxSizeInMegabytes", "MaxMessageSizeInKilobytes"} {
			members := "<" + name + ">" + size + "</" + name + ">"
			response, body := speak(t, server, ask("PUT /made?api-version=2021-05", "", description("QueueDescription", members)))
			if response.StatusCode != http.StatusBadRequest || !strings.Contains(body, name+": "+size+" is not between 0 and") {
				t.Errorf("%s: %d %s", members, response.StatusCode, body)
			}
		}
	}
}
