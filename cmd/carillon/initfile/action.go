package initfile

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// kind is an action type, with the values that its action needs in the order in which they are asked for.
type kind struct {
	name   string
	about  string
	fields []string
}

// field is a value that an action needs.
type field struct{ question, preset string }

// fields are the fields of all types, by the names of their flags.
var fields = map[string]field{
	"url":       {"URL to call", "${CARILLON_ECHO}"},
	"account":   {"Storage account", ""},
	"namespace": {"Service Bus namespace", ""},
	"queue":     {"Queue", ""},
	"topic":     {"Topic", ""},
	"subject":   {"Subject", ""},
	"message":   {"Message", "hello"},
}

// kinds are the action types.
var kinds = []kind{
	{"http", "an HTTP request", []string{"url"}},
	{"storageQueue", "a message into an Azure storage queue", []string{"account", "queue", "message"}},
	{"serviceBusQueue", "a message to a Service Bus queue", []string{"namespace", "queue", "message"}},
	{"serviceBusTopic", "a message to a Service Bus topic", []string{"namespace", "topic", "message"}},
	{"natsMessage", "a message over NATS", []string{"subject", "message"}},
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
func Types() []string { return terminal.All(kinds, func(k kind) string { return k.name }) }

// page is the data for the template of a job file.
type page struct {
	Command // its Cron and TimeZone, "" for none, and the values of the target

	Name, Collection string // Collection is "" for the default one
	Type, Method     string
	Bodiless         bool   // requests of the method have no body
	Start            string // "" for none
	Frequency        string // "" for none
	Interval         int
}

//go:embed job.yaml.tmpl
var templateText string

var jobTemplate = template.Must(template.New("job").Funcs(template.FuncMap{"yaml": scalar}).Parse(templateText))

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
