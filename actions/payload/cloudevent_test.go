package payload_test

import (
	"encoding/json"
	"net/url"
	"regexp"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/actions/payload"
	"github.com/carillon-sched/carillon/scheduler"
)

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
			m, err := c.Render(a)
			if err != nil {
				t.Fatal(err)
			}
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
