package servicebus_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/filter"
)

// startBuried starts an emulator with a dead letter in each of the queues given, and in the subscription t/Subscriptions/s.
func startBuried(t *testing.T, queues map[string]servicebus.QueueOptions) *servicebus.Server {
	t.Helper()
	config := servicebus.Config{Addr: "127.0.0.1:0", HTTPAddr: "127.0.0.1:0"}
	config.Entities.Topics = []servicebus.Topic{{Name: "t", Subscriptions: []servicebus.Subscription{{
		Name: "s", Options: servicebus.SubscriptionOptions{MaxDeliveryCount: 1},
	}}}}
	sources := map[string]string{"t": "t/Subscriptions/s"}
	for name, options := range queues {
		options.MaxDeliveryCount = 1
		config.Entities.Queues = append(config.Entities.Queues, servicebus.Queue{Name: name, Options: options})
		sources[name] = name
	}
	server, err := servicebus.Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	for target, source := range sources {
		wantStatus(t, server, ask("POST /"+target+"/messages", `BrokerProperties: {"MessageId":"id"}`+"\r\n", "body"), http.StatusCreated)
		response, _ := wantStatus(t, server, ask("POST /"+source+"/messages/head", "", ""), http.StatusCreated)
		wantStatus(t, server, ask("PUT "+lockOf(t, response), "", ""), http.StatusOK)
		wantHas(t, server, "deadletters", source, 1)
	}
	return server
}

// wantHas checks how many messages there are.
func wantHas(t *testing.T, server *servicebus.Server, what, entity string, want int) {
	t.Helper()
	_, body := wantStatus(t, server, ask("GET /api/"+what+"?entity="+entity, "", ""), http.StatusOK)
	if n := strings.Count(body, `"messageId"`); n != want {
		t.Errorf("%s has %d %s, want %d: %s", entity, n, what, want, body)
	}
}

// TestResubmitDuplicate resubmits a dead letter whose id the queue has seen: it is not dropped as a duplicate of itself.
func TestResubmitDuplicate(t *testing.T) {
	server := startBuried(t, map[string]servicebus.QueueOptions{"unique": {DuplicateDetection: true}})
	_, body := wantStatus(t, server, ask("POST /api/resubmit?entity=unique", "", ""), http.StatusOK)
	if strings.TrimSpace(body) != `{"resubmitted":1}` {
		t.Error(body)
	}
	wantHas(t, server, "deadletters", "unique", 0)
	wantHas(t, server, "messages", "unique", 1)
	wantStatus(t, server, ask("POST /unique/messages", `BrokerProperties: {"MessageId":"id"}`+"\r\n", "body"), http.StatusCreated)
	wantHas(t, server, "messages", "unique", 1) // that of a sender is one still
}

// TestResubmitRefused leaves dead letters where they are when nobody takes them, and says why.
func TestResubmitRefused(t *testing.T) {
	queues := map[string]servicebus.QueueOptions{"disabled": {}, "full": {}, "small": {}, "held": {}, "gone": {}}
	server := startBuried(t, queues)
	b := server.Broker()
	change := func(name string, options broker.Options) {
		t.Helper()
		options.MaxDeliveryCount = 1
		if _, err := b.Update(broker.QueueKind, name, options); err != nil {
			t.Fatal(err)
		}
	}
	change("disabled", broker.Options{Status: broker.SendDisabled})
	change("full", broker.Options{MaxSize: 10})
	change("small", broker.Options{MaxMessageSize: 10})
	if _, err := b.UpdateRule("t", "s", broker.Rule{Name: broker.DefaultRule, Filter: filter.FalseFilter()}); err != nil {
		t.Fatal(err)
	}
	for entity, want := range map[string]string{
		"disabled": "0 were resubmitted, and 1 stay dead letters:", "full": "maximum entity size", "small": "exceeds the limit of 10 bytes",
		"t/Subscriptions/s": "No subscription of 't' takes the message",
	} {
		response, body := speak(t, server, ask("POST /api/resubmit?entity="+entity, "", ""))
		if response.StatusCode < http.StatusBadRequest || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s, want %q", entity, response.StatusCode, body, want)
		}
		wantHas(t, server, "deadletters", entity, 1)
	}
	wantStatus(t, server, ask("POST /held/$DeadLetterQueue/messages/head", "", ""), http.StatusCreated)
	if _, body := wantStatus(t, server, ask("POST /api/resubmit?entity=held", "", ""), http.StatusOK); !strings.Contains(body, `:0`) {
		t.Errorf("a dead letter that a receiver holds: %s", body)
	}
	wantHas(t, server, "deadletters", "held", 1)
	if err := b.Delete("gone"); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, server, ask("POST /api/resubmit?entity=gone", "", ""), http.StatusNotFound)
}
