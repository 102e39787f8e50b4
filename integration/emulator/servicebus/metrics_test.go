package servicebus_test

import (
	"mime"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
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
