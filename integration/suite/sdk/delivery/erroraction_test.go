package delivery

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/cmd/carillon/node"
	"github.com/carillon-sched/carillon/integration/emulator/emulatortest"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// kinds are the action types, each with an action that fails for good and one that arrives at a place named by the test.
var kinds = []struct {
	name   string
	failed int // status of the failure
	fail   func(s *system) string
	arrive func(s *system, place string) string
	check  func(t *testing.T, s *system, place string, want map[string]any)
}{
	{
		name: "http", failed: http.StatusGone,
		fail: func(s *system) string {
			return `"type": "http", "request": {"method": "GET", "uri": "` + s.target.URL + `/gone"}`
		},
		arrive: func(s *system, place string) string {
			return `"type": "http", "request": {"method": "POST", "uri": "` + s.target.URL + `/` + place + `", "body": "help"}`
		},
		check: func(t *testing.T, s *system, place string, want map[string]any) {
			t.Helper()
			r := s.target.get(t, "/"+place)
			if r.body != "help" {
				t.Errorf("%s: body %q", place, r.body)
			}
			differ(t, place, fields(func(name string) any { return r.header.Get(name) }), want)
		},
	},
	{
		name: "storageQueue", failed: http.StatusNotFound,
		fail:   func(*system) string { return queueAction("strict", "missing", "") },
		arrive: func(_ *system, place string) string { return queueAction("acc", place, `, "envelope": "cloudevents"`) },
		check: func(t *testing.T, s *system, place string, want map[string]any) {
			t.Helper()
			event := parse(t, *s.fromQueue("acc", place).MessageText)
			if event["data"] != "help" || event["specversion"] != "1.0" {
				t.Errorf("%s: %v", place, event)
			}
			differ(t, place, fields(func(name string) any {
				return event[strings.ReplaceAll(strings.TrimPrefix(name, "x-carillon-"), "-", "")]
			}), want)
		},
	},
	{
		name: "serviceBusQueue", failed: http.StatusNotFound,
		fail:   func(*system) string { return busAction("serviceBusQueue", "queueName", "missing", "strict") },
		arrive: func(_ *system, place string) string { return busAction("serviceBusQueue", "queueName", place, "shop") },
		check: func(t *testing.T, s *system, place string, want map[string]any) {
			t.Helper()
			m := s.fromBus(place)
			if string(m.Body) != "help" || !strings.HasSuffix(m.MessageID, "/error") {
				t.Errorf("%s: body %q, id %q", place, m.Body, m.MessageID)
			}
			differ(t, place, fields(func(name string) any { return m.ApplicationProperties[name] }), want)
		},
	},
	{
		name: "serviceBusTopic", failed: http.StatusNotFound,
		fail:   func(*system) string { return busAction("serviceBusTopic", "topicPath", "missing", "strict") },
		arrive: func(_ *system, place string) string { return busAction("serviceBusTopic", "topicPath", place, "shop") },
		check: func(t *testing.T, s *system, place string, want map[string]any) {
			t.Helper()
			m := s.fromBus(place, "all")
			differ(t, place, fields(func(name string) any { return m.ApplicationProperties[name] }), want)
		},
	},
	{
		name: "natsMessage", failed: http.StatusNotFound,
		fail: func(*system) string {
			return `"type": "natsMessage", "natsMessage": {"mode": "jetstream", "subject": "no.stream", "message": "x"}`
		},
		arrive: func(_ *system, place string) string {
			return `"type": "natsMessage", "natsMessage": {"subject": "alarm.` + place + `", "message": "help"}`
		},
		check: func(t *testing.T, s *system, place string, want map[string]any) {
			t.Helper()
			for {
				m := must.Get(s.alarms.NextMsg(patience))(t)
				if m.Subject == "alarm."+place {
					differ(t, place, fields(func(name string) any { return m.Header.Get(name) }), want)
					return
				}
			}
		},
	},
}

func queueAction(account, queue, more string) string {
	return `"type": "storageQueue", "queueMessage": {"storageAccount": "` + account + `", "queueName": "` + queue + `", "sasToken": "TOKEN", "message": "help"` + more + `}`
}

func busAction(kind, member, entity, namespace string) string {
	return `"type": "` + kind + `", "` + kind + `Message": {"namespace": "` + namespace + `", "` + member + `": "` + entity + `", "message": "help"}`
}

// fields are what a target is told about what failed, by name.
func fields(get func(name string) any) map[string]any {
	found := map[string]any{}
	for _, name := range []string{"x-carillon-failed-status", "x-carillon-failed-attempts"} {
		found[name] = get(name)
	}
	message, _ := get("x-carillon-failed-message").(string)
	found["message"] = strings.Contains(message, " Action - ")
	return found
}

// TestErrorActions runs an errorAction of each type after an action of each type.
func TestErrorActions(t *testing.T) {
	strictBus := emulatortest.ServiceBus(t, servicebus.Config{})
	strictQueues := queuesOf(t, storagequeue.Config{Keys: storagequeue.Lenient})
	s := newSystem(t, func(c *node.Config) {
		c.Delivery.ServiceBus.ByName = map[string]string{"strict": "amqp://" + strictBus.Addr()}
		c.Delivery.StorageQueues.ByName = map[string]string{"strict": strictQueues.URL() + "/{name}"}
	})
	s.target.answers(func(r received, _ int) int {
		if r.path == "/gone" {
			return http.StatusGone
		}
		return http.StatusOK
	})
	s.alarms = must.Get(s.nc.SubscribeSync("alarm.>"))(t)
	for _, main := range kinds {
		for _, onError := range kinds {
			place := "after-" + strings.ToLower(main.name) + "-" + strings.ToLower(onError.name)
			s.put(place, `{"action": {`+main.fail(s)+`, "errorAction": {`+onError.arrive(s, place)+`}}}`)
			if got, want := s.ended(place), "failed completed/error faulted"; got != want {
				t.Errorf("%s: history %q, want %q: %s", place, got, want, s.last(place).Message)
				continue
			}
			onError.check(t, s, place, map[string]any{
				"x-carillon-failed-status": strconv.Itoa(main.failed), "x-carillon-failed-attempts": "1", "message": true,
			})
		}
	}
}
