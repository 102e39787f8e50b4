package initfile

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// kind describes an action type and how to write it.
type kind struct {
	name   string
	about  string
	fields []string // of the target, in the order in which they are asked for
	text   string   // of the action, with {field} where a value belongs
}

// field is a value that an action needs.
type field struct{ flag, question, preset string }

// fields are the fields of all types.
var fields = map[string]field{
	"url":       {"url", "URL to call", "${CARILLON_ECHO}"},
	"account":   {"account", "Storage account", ""},
	"namespace": {"namespace", "Service Bus namespace", ""},
	"queue":     {"queue", "Queue", ""},
	"topic":     {"topic", "Topic", ""},
	"subject":   {"subject", "Subject", ""},
	"message":   {"message", "Message", "hello"},
}

// kinds are the action types.
var kinds = []kind{
	{"http", "an HTTP request", []string{"url"}, `action:
  type: http
  request:
    method: {method}
    uri: {url}
    headers:
      Content-Type: application/json
    {body}
    # authentication: {type: Basic, username: me, password: {secretRef: my-password}}
    # success: {status: ["2xx"], bodyContains: done}    # what counts as done; any 2xx
`},
	{"storageQueue", "a message into an Azure storage queue", []string{"account", "queue", "message"}, `action:
  type: storageQueue
  queueMessage:
    storageAccount: {account}    # its name, or its endpoint
    queueName: {queue}
    sasToken: {secretRef: {name}-sas}    # set it first: carillon secrets set {name}-sas
    message: {message}
    # messageEncoding: base64    # which Azure Functions expect
`},
	{"serviceBusQueue", "a message to a Service Bus queue", []string{"namespace", "queue", "message"}, `action:
  type: serviceBusQueue
  serviceBusQueueMessage:
    namespace: {namespace}    # of .servicebus.windows.net, or an endpoint
    queueName: {queue}
    authentication:
      type: sharedAccessKey
      sasKeyName: RootManageSharedAccessKey    # a policy that may send
      sasKey: {secretRef: {name}-key}    # set it first: carillon secrets set {name}-key
    message: {message}
    # brokeredMessageProperties: {contentType: application/json}
`},
	{"serviceBusTopic", "a message to a Service Bus topic", []string{"namespace", "topic", "message"}, `action:
  type: serviceBusTopic
  serviceBusTopicMessage:
    namespace: {namespace}    # of .servicebus.windows.net, or an endpoint
    topicPath: {topic}
    authentication:
      type: sharedAccessKey
      sasKeyName: RootManageSharedAccessKey    # a policy that may send
      sasKey: {secretRef: {name}-key}    # set it first: carillon secrets set {name}-key
    message: {message}
    # customMessageProperties: {region: eu}    # what the filters of subscriptions select by
`},
	{"natsMessage", "a message over NATS", []string{"subject", "message"}, `action:
  type: natsMessage
  natsMessage:
    mode: publish    # or jetstream, which is done when a stream has it, or request, which records the answer
    subject: {subject}
    message: {message}
`},
}

// kindOf returns the type of a name, in any letter case.
func kindOf(name string) (kind, bool) {
	for _, k := range kinds {
		if strings.EqualFold(k.name, name) || strings.EqualFold(name, "https") && k.name == "http" {
			return k, true
		}
	}
	return kind{}, false
}

// Types are the names of the action types.
func Types() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

// write returns the action with its values.
func (k kind) write(name string, values map[string]string) string {
	pairs := []string{"{name}", name, "{secretRef: ", "{secretRef: "}
	for _, f := range k.fields {
		pairs = append(pairs, "{"+f+"}", scalar(values[f]))
	}
	if k.name == "http" {
		method, body := "POST", "body: '{\"message\": \"from "+name+"\"}'"
		if values["method"] != "" {
			method = strings.ToUpper(values["method"])
		}
		switch {
		case values["message"] != "":
			body = "body: " + scalar(values["message"])
		case method == "GET" || method == "HEAD" || method == "DELETE":
			body = "# body: '{\"message\": \"from " + name + "\"}'"
		}
		pairs = append(pairs, "{method}", scalar(method), "{body}", body)
	}
	return strings.NewReplacer(pairs...).Replace(k.text)
}

// scalar is a text as YAML, on one line.
func scalar(text string) string {
	line := document.StringValue(strings.ReplaceAll(text, "\n", " "))
	return strings.TrimSuffix(string(line.YAML()), "\n")
}

// choices are the types for a question.
func choices() string {
	var b strings.Builder
	for _, k := range kinds {
		fmt.Fprintf(&b, "  %-16s %s\n", k.name, k.about)
	}
	return b.String()
}

// units are the frequencies by their first letters, longest first where one has several.
var units = []struct {
	frequency string
	short     []string
	seconds   int // 0: not a fixed number
}{
	{"second", []string{"s", "sec"}, 1},
	{"minute", []string{"m", "min"}, 60},
	{"hour", []string{"h"}, 3600},
	{"day", []string{"d"}, 86400},
	{"week", []string{"w"}, 604800},
	{"month", []string{"mo"}, 0},
	{"year", []string{"y"}, 0},
}

var part = regexp.MustCompile(`^(\d*)\s*([a-z]+)\s*`)

// ReadEvery reads how often a job runs: 5m, 1h30m, day, 2 weeks.
func ReadEvery(text string) (frequency string, interval int, err error) {
	wrong := fmt.Errorf("--every: %q is not like 30s, 5m, 1h30m, day, 2 weeks, month", text)
	rest := strings.ToLower(strings.TrimSpace(text))
	type length struct{ unit, n int }
	var parts []length
	for rest != "" {
		m := part.FindStringSubmatch(rest)
		if m == nil {
			return "", 0, wrong
		}
		unit, n := unitOf(m[2]), 1
		if m[1] != "" {
			n, err = strconv.Atoi(m[1])
		}
		if unit < 0 || err != nil || n < 1 || n > 1<<20 {
			return "", 0, wrong
		}
		parts = append(parts, length{unit, n})
		rest = rest[len(m[0]):]
	}
	if len(parts) == 1 {
		return units[parts[0].unit].frequency, parts[0].n, nil
	}
	total, least := 0, len(units)
	for _, p := range parts {
		if units[p.unit].seconds == 0 {
			return "", 0, wrong // the length of 1 month 3 days is undefined
		}
		total += p.n * units[p.unit].seconds
		least = min(least, p.unit)
	}
	if len(parts) == 0 {
		return "", 0, wrong
	}
	return units[least].frequency, total / units[least].seconds, nil
}

// unitOf returns the index of a unit, -1 for none.
func unitOf(word string) int {
	for i, u := range units {
		if word == u.frequency || word == u.frequency+"s" || slices.Contains(u.short, word) {
			return i
		}
	}
	return -1
}
