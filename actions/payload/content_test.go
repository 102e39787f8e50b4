package payload_test

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/actions/payload"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// rules are those of an action that has everything.
var rules = payload.Rules{
	Member:    "message",
	MaxSize:   8192,
	Envelopes: []payload.Envelope{payload.CloudEvents, payload.CloudEventsBinary, payload.AzureScheduler},
	Region:    "West Europe",
}

// attempt is the second one of an occurrence.
func attempt() scheduler.Attempt {
	const occurrence = "billing/nightly@2026-03-01T09:30:00Z"
	return scheduler.Attempt{
		Job:        scheduler.Key{Collection: "billing", Job: "nightly"},
		Occurrence: occurrence,
		ID:         occurrence + "#2",
		Nominal:    time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC),
		Due:        time.Date(2026, 3, 1, 9, 30, 30, 250e6, time.UTC),
		Try:        2,
		Key:        occurrence,
		Timeout:    time.Minute,
		Previous:   time.Date(2026, 2, 28, 9, 30, 0, 0, time.UTC),
	}
}

// failed is the errorAction's attempt after attempt.
func failed() scheduler.Attempt {
	a := attempt()
	a.Phase, a.Try, a.ID, a.Key = scheduler.ErrorPhase, 3, a.Occurrence+"#3", a.Key+"/error"
	a.Failure = &scheduler.Failure{Status: 503, Attempts: 2, Message: "Http Action - 'Service\r\n Unavailable' \u2026 caf\u00e9"}
	return a
}

// read reads an action whose inner object is queueMessage.
func read(tb testing.TB, text string) (payload.Content, error) {
	tb.Helper()
	v := must.Get(document.Parse([]byte(text)))(tb)
	r := document.NewReader()
	action := r.Object(v, "action")
	inner, ok := action.Object("queueMessage")
	if !ok {
		tb.Fatal("no queueMessage")
	}
	c := payload.Read(action, inner, rules)
	inner.Done()
	action.Done()
	return c, r.Err()
}

func mustRead(tb testing.TB, text string) payload.Content {
	tb.Helper()
	return must.Get(read(tb, text))(tb)
}

func TestRender(t *testing.T) {
	for _, test := range []struct {
		name, text string
		attempt    scheduler.Attempt
		want       payload.Message
	}{
		{"plain", `{"queueMessage":{"message":"{{.Nominal}}"}}`, attempt(), payload.Message{Body: "{{.Nominal}}"}},
		{"none", `{"queueMessage":{"message":"x","envelope":"NONE","template":false}}`, attempt(), payload.Message{Body: "x"}},
		{"absent", `{"queueMessage":{"template":true}}`, attempt(), payload.Message{}},
		{"template", `{"template":true,"queueMessage":{"message":"{\"at\":\"{{.Nominal}}\"}"}}`, attempt(), payload.Message{
			Body: `{"at":"2026-03-01T09:30:00Z"}`,
		}},
		{"structured JSON", `{"envelope":"CloudEvents","queueMessage":{"message":" {\"a\": 1.0}"}}`, attempt(), payload.Message{
			Body: `{"specversion":"1.0","id":"billing/nightly@2026-03-01T09:30:00Z","source":"/jobCollections/billing/jobs/nightly",` +
				`"type":"io.github.carillon-sched.occurrence","subject":"billing/nightly@2026-03-01T09:30:00Z","time":"2026-03-01T09:30:00Z",` +
				`"attempt":2,"traceparent":"00-51194795d1cf2218b31703219b792e03-6a9bc77728f33185-01",` +
				`"datacontenttype":"application/json","data": {"a": 1.0}}`,
			ContentType: "application/cloudevents+json; charset=utf-8",
		}},
		{"structured text of a failure", `{"queueMessage":{"message":"say \"hi\"\n<\u0001>","envelope":"cloudevents","cloudEvent":{` +
			`"type":"com.example.failed","source":"urn:x:y","subject":"grüße","dataSchema":"https://example.com/s.json"}}}`, failed(), payload.Message{
			Body: `{"specversion":"1.0","id":"billing/nightly@2026-03-01T09:30:00Z/error","source":"urn:x:y",` +
				`"type":"com.example.failed","subject":"grüße","time":"2026-03-01T09:30:00Z","dataschema":"https://example.com/s.json",` +
				`"attempt":3,"traceparent":"00-51194795d1cf2218b31703219b792e03-816c966b0802a0cc-01",` +
				`"failedstatus":503,"failedattempts":2,"failedmessage":"Http Action - 'Service Unavailable' ... caf?",` +
				`"datacontenttype":"text/plain","data":"say \"hi\"\n<\u0001>"}`,
			ContentType: "application/cloudevents+json; charset=utf-8",
		}},
		{"structured, empty", `{"queueMessage":{"message":"","envelope":"cloudevents","cloudEvent":{"subject":"s"}}}`, attempt(), payload.Message{
			Body: `{"specversion":"1.0","id":"billing/nightly@2026-03-01T09:30:00Z","source":"/jobCollections/billing/jobs/nightly",` +
				`"type":"io.github.carillon-sched.occurrence","subject":"s","time":"2026-03-01T09:30:00Z",` +
				`"attempt":2,"traceparent":"00-51194795d1cf2218b31703219b792e03-6a9bc77728f33185-01"}`,
			ContentType: "application/cloudevents+json; charset=utf-8",
		}},
		{"binary", `{"queueMessage":{"message":"[1]","envelope":"cloudeventsBinary"}}`, failed(), payload.Message{
			Body:        `[1]`,
			ContentType: "application/json",
			Attributes: []payload.Attribute{
				{"specversion", "1.0"},
				{"id", "billing/nightly@2026-03-01T09:30:00Z/error"},
				{"source", "/jobCollections/billing/jobs/nightly"},
				{"type", "io.github.carillon-sched.occurrence"},
				{"subject", "billing/nightly@2026-03-01T09:30:00Z"},
				{"time", "2026-03-01T09:30:00Z"},
				{"attempt", "3"},
				{"traceparent", "00-51194795d1cf2218b31703219b792e03-816c966b0802a0cc-01"},
				{"failedstatus", "503"},
				{"failedattempts", "2"},
				{"failedmessage", "Http Action - 'Service Unavailable' ... caf?"},
			},
		}},
		{"Azure", `{"queueMessage":{"message":"a < b && c\r\n\"ü\"","envelope":"azurescheduler"}}`, attempt(), payload.Message{
			Body: `<?xml version="1.0" encoding="utf-16"?>
<StorageQueueMessage xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
  <ExecutionTag>25168f78131513e178f7f1b1587bbabf</ExecutionTag>
  <ClientRequestId>6a658ddd-0dc0-8203-ae8c-f587e2816d18</ClientRequestId>
  <ExpectedExecutionTime>2026-03-01T09:30:00</ExpectedExecutionTime>
  <SchedulerJobId>nightly</SchedulerJobId>
  <SchedulerJobCollectionId>billing</SchedulerJobCollectionId>
  <Region>West Europe</Region>
  <Message>a &lt; b &amp;&amp; c&#xD;
"ü"</Message>
</StorageQueueMessage>`,
			ContentType: "application/xml; charset=utf-8",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := mustRead(t, test.text)
			got := must.Get(c.Render(test.attempt))(t)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadProblems(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`{"envelope":"none","queueMessage":{"message":"x","envelope":"none"}}`, "action.envelope: is given twice: leave it out here, or at action.queueMessage.envelope"},
		{`{"template":true,"queueMessage":{"message":"x","template":true}}`, "action.template: is given twice: leave it out here, or at action.queueMessage.template"},
		{`{"queueMessage":{"envelope":"xml"}}`, `action.queueMessage.envelope: "xml" is not one of none, cloudevents, cloudeventsBinary, azureScheduler`},
		{`{"queueMessage":{"envelope":"xml","cloudEvent":{}}}`, `action.queueMessage.envelope: "xml" is not one of none, cloudevents, cloudeventsBinary, azureScheduler`},
		{`{"queueMessage":{"template":"yes"}}`, `action.queueMessage.template: must be a boolean, not a string`},
		{`{"queueMessage":{"message":1}}`, `action.queueMessage.message: must be a string, not a number`},
		{`{"cloudEvent":{"type":"x"},"queueMessage":{}}`, `action.cloudEvent: goes with the envelopes cloudevents and cloudeventsBinary only`},
		{`{"queueMessage":{"envelope":"azureScheduler","cloudEvent":{}}}`, `action.queueMessage.cloudEvent: goes with the envelopes cloudevents and cloudeventsBinary only`},
		{`{"queueMessage":{"envelope":"cloudevents","cloudEvent":{"typ":"x"}}}`, `action.queueMessage.cloudEvent.typ: unknown field; did you mean "type"?`},
		{
			`{"queueMessage":{"envelope":"cloudevents","cloudEvent":{"type":"","source":"a b","subject":"\u0007","dataSchema":"x"}}}`,
			"action.queueMessage.cloudEvent.type: must not be empty\n" +
				"action.queueMessage.cloudEvent.subject: must not contain control characters, as it does at line 1, column 1\n" +
				`action.queueMessage.cloudEvent.source: is not a URI or a part of one, such as /orders/nightly` + "\n" +
				`action.queueMessage.cloudEvent.dataSchema: is not a URI, such as https://example.com/order.json`,
		},
		{
			`{"queueMessage":{"envelope":"azureScheduler","message":"ab\nc\u0001"}}`,
			"action.queueMessage.message: the character U+0001 at line 2, column 2 cannot be sent in the envelope azureScheduler: XML does not have it",
		},
		{`{"queueMessage":{"message":"` + strings.Repeat("ü", 8193) + `"}}`, "action.queueMessage.message: is 8193 characters long, at most 8192 are allowed"},
	} {
		_, err := read(t, test.text)
		if err == nil || err.Error() != test.want {
			t.Errorf("%.100s:\n got %v\nwant %s", test.text, err, test.want)
		}
	}
}

// TestReadOneObject reads an action whose text stands in the action object itself.
func TestReadOneObject(t *testing.T) {
	v := must.Get(document.Parse([]byte(`{"message":"{{.Job}}","template":true,"envelope":"none"}`)))(t)
	r := document.NewReader()
	o := r.Object(v, "")
	c := payload.Read(o, o, rules)
	o.Done()
	if r.Err() != nil || !c.Templated() || c.Envelope() != payload.None || c.Text() != "{{.Job}}" {
		t.Errorf("%v, %t, %s, %q", r.Err(), c.Templated(), c.Envelope(), c.Text())
	}
}

// TestRenderErrors has templates whose output is wrong for some attempts only.
func TestRenderErrors(t *testing.T) {
	bell := failed()
	bell.Failure.Message = "\a" + strings.Repeat("x", 40_000)
	for _, test := range []struct{ text, want string }{
		{
			`{"queueMessage":{"template":true,"envelope":"azureScheduler","message":"{{.Failure.Message}}"}}`,
			"message: the character U+0007 at line 1, column 1 cannot be sent in the envelope azureScheduler: XML does not have it",
		},
		{
			`{"queueMessage":{"template":true,"message":"` + strings.Repeat("{{.Failure.Message}}", 14) + `"}}`,
			"template in message: the output is longer than the allowed 524288 bytes",
		},
		{
			`{"queueMessage":{"template":true,"message":"{{$m := .Failure.Message}}\n{{print $m $m}}"}}`,
			"template in message: line 2, column 3: print: the text is longer than the allowed 16384 bytes",
		},
	} {
		c := mustRead(t, test.text)
		if _, err := c.Render(bell); err == nil || err.Error() != test.want {
			t.Errorf("%s:\n got %v\nwant %s", test.text, err, test.want)
		}
		if _, err := c.Render(attempt()); err != nil {
			t.Errorf("%s: %v", test.text, err)
		}
	}
}

// TestCloudEventRules holds events against the specification: CloudEvents 1.0.2, "Context Attributes" and "Type System",
// and its JSON event format.
func TestCloudEventRules(t *testing.T) {
	name := regexp.MustCompile(`^[a-z0-9]{1,20}$`)
	for _, text := range []string{
		`{"queueMessage":{"message":"{\"a\":[1,2]}","envelope":"cloudevents"}}`,
		`{"queueMessage":{"message":"\u0000 <text> \ud83d\ude00","envelope":"cloudevents","cloudEvent":{"subject":"\ud83d\ude00"}}}`,
		`{"queueMessage":{"envelope":"cloudevents"}}`,
	} {
		c := mustRead(t, text)
		for _, a := range []scheduler.Attempt{attempt(), failed()} {
			m := must.Get(c.Render(a))(t)
			var event map[string]any
			if err := json.Unmarshal([]byte(m.Body), &event); err != nil || !utf8.ValidString(m.Body) {
				t.Fatalf("%s: %v", m.Body, err)
			}
			for attribute, value := range event {
				if !name.MatchString(attribute) {
					t.Errorf("attribute name %q", attribute)
				}
				if n, number := value.(float64); number && attribute != "data" && (n != float64(int32(n))) {
					t.Errorf("%s: %v is not a 32-bit integer", attribute, n)
				}
			}
			for _, required := range []string{"id", "source", "specversion", "type", "subject", "traceparent"} {
				if value, _ := event[required].(string); value == "" {
					t.Errorf("%s is missing in %s", required, m.Body)
				}
			}
			if event["specversion"] != "1.0" {
				t.Errorf("specversion %v", event["specversion"])
			}
			if _, err := url.Parse(event["source"].(string)); err != nil {
				t.Error(err)
			}
			if at, err := time.Parse(time.RFC3339, event["time"].(string)); err != nil || !at.Equal(a.Nominal) {
				t.Errorf("time %v, %v", at, err)
			}
			if _, failed := event["failedstatus"].(float64); failed != (a.Failure != nil) {
				t.Errorf("failedstatus: %v", event["failedstatus"])
			}
		}
	}
}

// TestHTTPHeader has the example of the HTTP protocol binding (3.1.3.2) and the borders of its rule.
func TestHTTPHeader(t *testing.T) {
	for value, want := range map[string]string{
		"Euro € 😀":    "Euro%20%E2%82%AC%20%F0%9F%98%80",
		`a"b%c~!\x7f`: `a%22b%25c~!\x7f`,
		"\x00\x7f":    "%00%7F",
		"plain/1:2@3": "plain/1:2@3",
		"":            "",
	} {
		if name, got := (payload.Attribute{Name: "subject", Value: value}).HTTPHeader(); name != "ce-subject" || got != want {
			t.Errorf("%q: %s: %s, want %s", value, name, got, want)
		}
	}
}
