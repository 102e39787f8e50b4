package servicebus_test

import (
	"mime"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/filter"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestMetrics shows what Prometheus reads after a few messages.
func TestMetrics(t *testing.T) {
	server := startREST(t, servicebus.Config{Auth: servicebus.Lenient})
	for range 3 {
		wantStatus(t, server, ask("POST /q/messages", "", "x"), http.StatusCreated)
	}
	wantStatus(t, server, ask("POST /q/messages", `BrokerProperties: {"ScheduledEnqueueTimeUtc":"2100-01-01T00:00:00Z"}`+"\r\n", "x"),
		http.StatusCreated)
	wantStatus(t, server, ask("POST /t/messages", "", "x"), http.StatusCreated)
	wantStatus(t, server, ask("POST /sessions/messages", "", "x"), http.StatusBadRequest)
	response, _ := wantStatus(t, server, ask("POST /q/messages/head", "", ""), http.StatusCreated)
	lock := lockOf(t, response)
	wantStatus(t, server, ask("DELETE "+lock, "", ""), http.StatusOK)
	response, body := wantStatus(t, server, ask("GET /metrics", "", ""), http.StatusOK)
	kind, details, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if kind != "text/plain" || details["version"] != "0.0.4" || err != nil {
		t.Error(kind, details, err)
	}
	lines := strings.Split(body, "\n")
	for _, want := range []string{
		`# TYPE carillon_emulator_servicebus_messages gauge`,
		`carillon_emulator_servicebus_messages{entity="q",state="active"} 2`,
		`carillon_emulator_servicebus_messages{entity="q",state="scheduled"} 1`,
		`carillon_emulator_servicebus_messages{entity="q",state="dead_letter"} 0`,
		`carillon_emulator_servicebus_messages{entity="t/Subscriptions/s",state="active"} 1`,
		`carillon_emulator_servicebus_receivers{entity="q"} 0`,
		`carillon_emulator_servicebus_connections 0`,
		`carillon_emulator_servicebus_operations_total{operation="send",outcome="ok"} 5`,
		`carillon_emulator_servicebus_operations_total{operation="send",outcome="amqp:not-allowed"} 1`,
		`carillon_emulator_servicebus_operations_total{operation="receive",outcome="ok"} 1`,
		`carillon_emulator_servicebus_operations_total{operation="complete",outcome="ok"} 1`,
		`carillon_emulator_servicebus_http_requests_total{code="201",method="post"} 6`,
		`carillon_emulator_servicebus_http_requests_total{code="400",method="post"} 1`,
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
	wantStatus(t, server, ask("GET /metrics?api-version=2021-05", "", ""), http.StatusNotFound) // an entity could have the name
}

// TestPurge empties a queue of messages that wait, are deferred or scheduled, and a topic.
func TestPurge(t *testing.T) {
	server := startREST(t, servicebus.Config{})
	const scheduled = `BrokerProperties: {"ScheduledEnqueueTimeUtc":"2100-01-01T00:00:00Z"}` + "\r\n"
	for _, path := range []string{"/q", "/t"} {
		wantStatus(t, server, ask("POST "+path+"/messages", "", "x"), http.StatusCreated)
		wantStatus(t, server, ask("POST "+path+"/messages", scheduled, "x"), http.StatusCreated)
	}
	wantStatus(t, server, ask("POST /q/messages", "", "locked"), http.StatusCreated)
	response, _ := wantStatus(t, server, ask("POST /q/messages/head", "", ""), http.StatusCreated)
	for path, want := range map[string]string{
		"/api/messages?entity=q&top=1":         `\"top\" is no parameter of this request, which has entity`,
		"/api/messages?entity=q&session=a":     `\"session\" is no parameter`,
		"/api/deadletters?entity=q&sequence=1": `\"sequence\" is no parameter`,
		"/api/messages?entity=q;top=1":         "semicolon",
		"/api/faults?entity=q":                 `\"entity\" is no parameter of this request, which has none`,
	} {
		if _, body := wantStatus(t, server, ask("DELETE "+path, "", ""), http.StatusBadRequest); !strings.Contains(body, want) {
			t.Errorf("%s: %s lacks %s", path, body, want)
		}
	}
	for _, test := range []struct{ path, want string }{
		{"/api/messages?entity=q", `{"deleted":2}`},
		{"/api/messages?entity=q", `{"deleted":0}`},
		{"/api/messages?entity=t", `{"deleted":2}`},
		{"/api/deadletters?entity=q", `{"deleted":0}`},
	} {
		if _, body := wantStatus(t, server, ask("DELETE "+test.path, "", ""), http.StatusOK); strings.TrimSpace(body) != test.want {
			t.Errorf("%s: %s, want %s", test.path, body, test.want)
		}
	}
	for range 10 {
		lock := lockOf(t, response)
		wantStatus(t, server, ask("PUT "+lock, "", ""), http.StatusOK)
		response, _ = speak(t, server, ask("POST /q/messages/head?timeout=0", "", ""))
		if response.StatusCode == http.StatusNoContent {
			break
		}
	}
	if _, body := wantStatus(t, server, ask("DELETE /api/deadletters?entity=q", "", ""), http.StatusOK); strings.TrimSpace(body) != `{"deleted":1}` {
		t.Error(body)
	}
	wantStatus(t, server, ask("DELETE /api/messages?entity=none", "", ""), http.StatusNotFound)
	wantStatus(t, server, ask("DELETE /api/messages", "", ""), http.StatusBadRequest)
}

// TestMessagesOfWhat shows what has no messages to show or delete. Nothing is deleted meanwhile.
func TestMessagesOfWhat(t *testing.T) {
	server := startREST(t, servicebus.Config{})
	wantStatus(t, server, ask("POST /q/messages", "", "x"), http.StatusCreated)
	for _, test := range []struct {
		request string
		status  int
		want    string
	}{
		{"GET /api/messages?entity=q/$management", http.StatusNotFound, "'q/$management' could not be found"},
		{"GET /api/deadletters?entity=q/$Management", http.StatusNotFound, "'q/$Management' could not be found"},
		{"DELETE /api/messages?entity=q/$management", http.StatusNotFound, "'q/$management' could not be found"},
		{"DELETE /api/deadletters?entity=q/$management", http.StatusNotFound, "'q/$management' could not be found"},
		{"POST /api/resubmit?entity=q/$management", http.StatusNotFound, "'q/$management' could not be found"},
		{"GET /api/messages?entity=None", http.StatusNotFound, "'None' could not be found"},
		{"GET /api/deadletters?entity=None", http.StatusNotFound, "'None' could not be found"},
		{"DELETE /api/deadletters?entity=None", http.StatusNotFound, "'None' could not be found"},
		{"POST /api/resubmit?entity=None", http.StatusNotFound, "'None' could not be found"},
		{"GET /api/messages?entity=t", http.StatusBadRequest, "is a topic: receive from one of its subscriptions"},
		{"GET /api/deadletters?entity=t", http.StatusBadRequest, "is a topic: receive from one of its subscriptions"},
	} {
		if _, body := wantStatus(t, server, ask(test.request, "", ""), test.status); !strings.Contains(body, test.want) {
			t.Errorf("%s: %s lacks %s", test.request, body, test.want)
		}
	}
	wantHas(t, server, "messages", "q", 1)
	wantHas(t, server, "deadletters", "q", 0)
}

// startBuried starts an emulator with a dead letter in each of the queues given, and in the subscription t/Subscriptions/s.
func startBuried(t *testing.T, queues map[string]servicebus.QueueOptions) *servicebus.Server {
	t.Helper()
	var config servicebus.Config
	config.Entities.Topics = []servicebus.Topic{{Name: "t", Subscriptions: []servicebus.Subscription{{
		Name: "s", Options: servicebus.SubscriptionOptions{MaxDeliveryCount: 1},
	}}}}
	sources := map[string]string{"t": "t/Subscriptions/s"}
	for name, options := range queues {
		options.MaxDeliveryCount = 1
		config.Entities.Queues = append(config.Entities.Queues, servicebus.Queue{Name: name, Options: options})
		sources[name] = name
	}
	server := start(t, config)
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

// TestResubmitRefused leaves dead letters where they are when nobody takes them, and says why.
func TestResubmitRefused(t *testing.T) {
	queues := map[string]servicebus.QueueOptions{"disabled": {}, "full": {}, "small": {}, "held": {}, "gone": {}}
	server := startBuried(t, queues)
	b := server.Broker()
	change := func(name string, options broker.Options) {
		t.Helper()
		options.MaxDeliveryCount = 1
		must.Get(b.Update(broker.QueueKind, name, options))(t)
	}
	change("disabled", broker.Options{Status: broker.SendDisabled})
	change("full", broker.Options{MaxSize: 10})
	change("small", broker.Options{MaxMessageSize: 10})
	must.Get(b.UpdateRule("t", "s", broker.Rule{Name: broker.DefaultRule, Filter: filter.FalseFilter()}))(t)
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
	must.Do(t, b.Delete("gone"))
	wantStatus(t, server, ask("POST /api/resubmit?entity=gone", "", ""), http.StatusNotFound)
}
