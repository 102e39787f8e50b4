package builtin_test

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

const request = `"request":{"method":"GET","uri":"http://x/"}`

// TestMisplacedMembers shows that a member in the wrong place is told where it belongs, for every member that some object
// of the job may have, and that misspelled ones are still told what was meant.
func TestMisplacedMembers(t *testing.T) {
	for job, want := range map[string]string{
		`{"retryPolicy":{},"action":{"type":"http",` + request + `}}`:        `retryPolicy: belongs in action`,
		`{"cron":"@daily","action":{"type":"http",` + request + `}}`:         `cron: belongs in recurrence`,
		`{"frequency":"day","action":{"type":"http",` + request + `}}`:       `frequency: belongs in recurrence`,
		`{"hours":[1],"action":{"type":"http",` + request + `}}`:             `hours: belongs in recurrence.schedule`,
		`{"policy":"once","action":{"type":"http",` + request + `}}`:         `policy: belongs in catchUp`,
		`{"retryCount":1,"action":{"type":"http",` + request + `}}`:          `retryCount: belongs in action.retryPolicy`,
		`{"uri":"http://x/","action":{"type":"http"}}`:                       "action.request: is required\nuri: belongs in action.request",
		`{"url":"http://x/","action":{"type":"http",` + request + `}}`:       `url: unknown field; did you mean "uri" in action.request?`,
		`{"request":{},"action":{"type":"http",` + request + `}}`:            `request: belongs in action`,
		`{"errorAction":{},"action":{"type":"http",` + request + `}}`:        `errorAction: belongs in action`,
		`{"action":{"type":"http",` + request + `,"timeout":"10s"}}`:         `action.timeout: belongs at the top level of the job`,
		`{"action":{"type":"http",` + request + `,"retryCount":3}}`:          `action.retryCount: belongs in action.retryPolicy`,
		`{"action":{"type":"http",` + request + `,"uri":"http://y/"}}`:       `action.uri: belongs in action.request`,
		`{"action":{"type":"http",` + request + `,"recurrence":{}}}`:         `action.recurrence: belongs at the top level of the job`,
		`{"recurrence":{"frequency":"day","minutes":[1]},` + action:          `recurrence.minutes: belongs in recurrence.schedule`,
		`{"recurrence":{"cron":"@daily","timeZone":"UTC"},` + action:         `recurrence.timeZone: belongs at the top level of the job`,
		`{"recurrence":{"cron":"@daily","startTime":""},` + action:           `recurrence.startTime: belongs at the top level of the job`,
		`{"recurrence":{"cron":"@daily","uri":"http://x/"},` + action:        `recurrence.uri: belongs in action.request`,
		`{"recurrence":{"frequency":"day","jitter":"1s"},` + action:          `recurrence.jitter: belongs in action.retryPolicy or at the top level of the job`,
		`{"recurrence":{"frequency":"day","schedule":{"count":1}},` + action: `recurrence.schedule.count: belongs in recurrence or in trigger`,
		`{"properties":{"cron":"@daily",` + action + `}`:                     `properties.cron: belongs in recurrence`,
		`{"properties":{` + action + `,"cron":"@daily"}`:                     `cron: belongs in recurrence`,
		`{"cron":"@daily"}`: "action: is required\ncron: belongs in recurrence",
		`{"action":{"type":"http",` + request + `,"errorAction":{"type":"http","uri":"http://x/",` + request + `}}}`:                             `action.errorAction.uri: belongs in action.errorAction.request`,
		`{"action":{"type":"http",` + request + `,"errorAction":{"type":"http","request":{"method":"GET","uri":"http://x/","retryPolicy":{}}}}}`: `action.errorAction.request.retryPolicy: belongs in action.errorAction`,

		`{"recurence":{},` + action:                `recurence: unknown field; did you mean "recurrence"?`,
		`{"nonsense":1,` + action:                  `nonsense: unknown field`,
		`{"Timeout":"1m","timeout":"1m",` + action: `Timeout: repeats "timeout"`,
		`{"queueName":"a",` + action:               `queueName: unknown field`, // of another type
		`{"queueName":"a","action":{}}`:            "action.type: is required\nqueueName: unknown field",
		`{"queueName":"a"}`:                        "action: is required\nqueueName: belongs in action.serviceBusQueueMessage or in action.queueMessage",
	} {
		if got := problems(t, job); got != want {
			t.Errorf("%s\n got %s\nwant %s", job, got, want)
		}
	}
}

const action = `"action":{"type":"http",` + request + `}}`

// TestWrongTypeHidesNothing shows that a type which is wrong or missing does not keep back what else is wrong, with the
// action of the type that was probably meant, and with the rest of the job.
func TestWrongTypeHidesNothing(t *testing.T) {
	const types = ` is not one of Http, Https, NatsMessage, ServiceBusQueue, ServiceBusTopic, StorageQueue`
	for job, want := range map[string]string{
		`{"timeout":"x","action":{"type":"htp","request":{"method":"FETCH","url":"http://x/"},"retryPolicy":{"retryCount":99}},"foo":1}`: `action.type: "htp"` + types + `; did you mean "Http"?
action.request.method: "FETCH" is not one of GET, PUT, POST, PATCH, DELETE, HEAD, OPTIONS; did you mean "PATCH"?
action.request.uri: is required
action.request.url: unknown field; did you mean "uri"?
action.retryPolicy.retryCount: 99 is not in 0-20
timeout: "x" is not a duration: expected a number, not "x"; write 30s, 1h30m or PT1H30M
foo: unknown field`,
		`{"action":{"request":{"method":"GET","uri":"nowhere"}}}`:           "action.type: is required\naction.request.uri: ",
		`{"action":{"type":"email","queueMessage":{"queueName":"a"}}}`:      `action.type: "email"` + types + "\naction.queueMessage.",
		`{"action":{"type":"email","to":"a@example.org"}}`:                  `action.type: "email"` + types,
		`{"action":{"type":7,"request":{"method":"GET"}}}`:                  "action.type: must be a string, not a number\naction.request.uri: is required",
		`{"action":{"type":"serviceBus","serviceBusTopicMessage":{"x":1}}}`: `action.type: "serviceBus"` + types + "; did you mean \"ServiceBusQueue\"?\naction.serviceBusTopicMessage.",
	} {
		if got := problems(t, job); !strings.HasPrefix(got, want) {
			t.Errorf("%s\n got %s\nwant %s", job, got, want)
		}
	}
}

// problems returns what is wrong with a job, a line each.
func problems(t *testing.T, text string) string {
	t.Helper()
	v, err := document.Parse([]byte(text))
	if err != nil {
		t.Fatal(text, err)
	}
	registry := builtin.New(builtin.Config{})
	t.Cleanup(registry.Close)
	r := scheduler.DefinitionDecoder{Actions: registry, Key: scheduler.Key{Collection: "default", Job: "a"}, Now: time.Unix(0, 0)}
	_, err = r.Document(v).Definition()
	var lines []string
	for _, p := range scheduler.ProblemsIn(err) {
		lines = append(lines, p.Error())
	}
	return strings.Join(lines, "\n")
}
