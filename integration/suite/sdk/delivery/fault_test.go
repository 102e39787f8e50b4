package delivery

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/carillon-sched/carillon/cmd/carillon/node"
	"github.com/carillon-sched/carillon/integration/emulator/emulatortest"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// quick retries three times without much of a pause.
const quick = `, "retryPolicy": {"retryType": "fixed", "retryInterval": "PT0.05S", "retryCount": 3}`

// TestServiceBusFaults injects faults into the emulator. Each has its outcome, and is repeated or not.
func TestServiceBusFaults(t *testing.T) {
	s := newSystem(t)
	tests := []struct {
		name   string
		fault  servicebus.Fault
		want   string // history
		status int    // of the first attempt
		says   string // in its message
	}{
		{"busy", servicebus.Fault{Condition: "com.microsoft:server-busy", Count: 2}, "failed failed completed", 503, "server-busy"},
		{"timeout", servicebus.Fault{Condition: "com.microsoft:timeout"}, "failed completed", 0, "timeout"},
		{"dropped", servicebus.Fault{Drop: true}, "failed completed", 0, ""},
		{"lock", servicebus.Fault{Condition: "com.microsoft:message-lock-lost"}, "failed completed", 0, "message-lock-lost"},
		{"unauthorized", servicebus.Fault{Condition: "amqp:unauthorized-access"}, "failed faulted", 401, "unauthorized"},
		{"missing", servicebus.Fault{Condition: "amqp:not-found"}, "failed faulted", 404, "not-found"},
		{"large", servicebus.Fault{Condition: "amqp:link:message-size-exceeded"}, "failed faulted", 413, "size"},
		{"quota", servicebus.Fault{Condition: "amqp:resource-limit-exceeded"}, "failed completed", 0, "resource-limit-exceeded"},
	}
	for _, test := range tests {
		test.fault.Entity, test.fault.Operation = test.name, servicebus.OpSend
		s.bus.Inject(test.fault)
		s.put(test.name, `{"action": {`+busAction("serviceBusQueue", "queueName", test.name, "shop")+quick+`}}`)
		if got := s.ended(test.name); got != test.want {
			t.Errorf("%s: history %q, want %q: %s", test.name, got, test.want, s.last(test.name).Message)
		}
		first := s.first(test.name)
		if test.status != 0 && first.Status != test.status || !strings.Contains(strings.ToLower(first.Message), test.says) || strings.Contains(first.Message, "\n") {
			t.Errorf("%s: status %d, message %q", test.name, first.Status, first.Message)
		}
		if strings.HasSuffix(test.want, "completed") {
			m := s.fromBus(test.name)
			if m.MessageID != first.Occurrence {
				t.Errorf("%s: message id %q, want %q", test.name, m.MessageID, first.Occurrence)
			}
		}
		s.bus.Heal()
	}
}

// TestServiceBusStrict sends with a wrong key, and then with the right one.
func TestServiceBusStrict(t *testing.T) {
	strict := emulatortest.ServiceBus(t, servicebus.Config{Auth: servicebus.Strict, Keys: map[string]string{"send": "right"}, AutoCreate: true})
	s := newSystem(t, func(c *node.Config) {
		c.Delivery.ServiceBus.ByName = map[string]string{"strict": "amqp://" + strict.Addr()}
	})
	job := func(key string) string {
		return `{"action": {"type": "serviceBusQueue", "serviceBusQueueMessage": {"namespace": "strict", "queueName": "q", "message": "x",
			"authentication": {"type": "sharedAccessKey", "sasKeyName": "send", "sasKey": "` + key + `"}}` + quick + `}}`
	}
	s.put("wrong", job("wrong-key"))
	if got := s.ended("wrong"); got != "failed faulted" || s.first("wrong").Status != http.StatusUnauthorized {
		t.Errorf("history %q, status %d: %s", got, s.first("wrong").Status, s.first("wrong").Message)
	}
	s.put("right", job("right"))
	if got := s.ended("right"); got != "completed" {
		t.Errorf("history %q: %s", got, s.first("right").Message)
	}
}

// TestServiceBusDuplicates shows that what is sent twice under one id arrives once where duplicates are detected.
func TestServiceBusDuplicates(t *testing.T) {
	s := newSystem(t)
	must.Get(s.bus.Broker().CreateQueue("once", servicebus.QueueOptions{DuplicateDetection: true}))(t)
	for _, name := range []string{"a", "b"} {
		s.put(name, `{"action": {"type": "serviceBusQueue", "serviceBusQueueMessage": {"namespace": "shop", "queueName": "once", "message": "x",
			"brokeredMessageProperties": {"messageId": "same"}}}}`)
		if got := s.ended(name); got != "completed" {
			t.Fatalf("%s: history %q", name, got)
		}
	}
	queue, err := s.bus.Broker().Entity("once")
	if err != nil || queue.Usage.Active != 1 {
		t.Errorf("%d messages, %v", queue.Usage.Active, err)
	}
}

// TestStorageQueueFaults puts a proxy that fails before the emulator.
func TestStorageQueueFaults(t *testing.T) {
	var fault atomic.Value // func(http.ResponseWriter) bool
	fault.Store(func(http.ResponseWriter) bool { return false })
	var backend *url.URL
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !fault.Load().(func(http.ResponseWriter) bool)(w) {
			httputil.NewSingleHostReverseProxy(backend).ServeHTTP(w, r)
		}
	}))
	t.Cleanup(front.Close)
	s := newSystem(t, func(c *node.Config) {
		c.Delivery.StorageQueues.ByName = map[string]string{"weak": front.URL + "/weak"}
	})
	backend = must.Get(url.Parse(s.queues.URL()))(t)
	refusal := func(status int, code string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.Header().Set("x-ms-error-code", code)
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(`<?xml version="1.0" encoding="utf-8"?><Error><Code>` + code + `</Code><Message>On purpose.</Message></Error>`))
		}
	}
	reset := func(w http.ResponseWriter) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = c.(*net.TCPConn).SetLinger(0)
			_ = c.Close()
		}
	}
	tests := []struct {
		name   string
		fault  func(http.ResponseWriter)
		count  int32
		want   string
		status int
		says   string
	}{
		{"busy", refusal(503, "ServerBusy"), 2, "failed failed completed", 503, "ServerBusy"},
		{"unauthorized", refusal(403, "AuthenticationFailed"), 1, "failed faulted", 403, "AuthenticationFailed"},
		{"nobody", refusal(401, "NoAuthenticationInformation"), 1, "failed faulted", 401, "NoAuthenticationInformation"},
		{"missing", refusal(404, "QueueNotFound"), 1, "failed faulted", 404, "QueueNotFound"},
		{"large", refusal(413, "RequestBodyTooLarge"), 1, "failed faulted", 413, "RequestBodyTooLarge"},
		{"reset", reset, 1, "failed completed", 0, "connection"},
	}
	for _, test := range tests {
		var befell atomic.Int32
		fault.Store(func(w http.ResponseWriter) bool {
			if befell.Add(1) > test.count {
				return false
			}
			test.fault(w)
			return true
		})
		s.put(test.name, `{"action": {`+queueAction("weak", "faulty-"+test.name, "")+quick+`}}`)
		if got := s.ended(test.name); got != test.want {
			t.Errorf("%s: history %q, want %q: %s", test.name, got, test.want, s.last(test.name).Message)
		}
		if first := s.first(test.name); first.Status != test.status || !strings.Contains(first.Message, test.says) {
			t.Errorf("%s: status %d, message %q", test.name, first.Status, first.Message)
		}
		if strings.HasSuffix(test.want, "completed") {
			if m := s.fromQueue("weak", "faulty-"+test.name); *m.MessageText != "help" {
				t.Errorf("%s: got %q", test.name, *m.MessageText)
			}
		}
	}
}
