package explain_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/cmd/carillon/explain"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/schema"
)

func TestFind(t *testing.T) {
	documents := explain.Ours()
	for path, want := range map[string]string{
		"job":                                     "job object",
		"JOB.Recurrence.FREQUENCY":                "job.recurrence.frequency word",
		"properties.recurrence.cron":              "job.recurrence.cron string",
		"collection.properties.sku.name":          "collection.sku.name word",
		"action.request.headers.Accept":           "job.action.request.headers.* secret",
		"action.natsMessage.servers":              "job.action.natsMessage.servers list of strings or string",
		"action.retryPolicy.jitter":               "job.action.retryPolicy.jitter duration",
		"action.errorAction":                      "job.action.errorAction object or list of objects",
		"action.errorAction[0].errorAction.type":  "job.action.errorAction.errorAction.type word",
		"job.action.request.authentication.scope": "job.action.request.authentication.scope string",
		"job.labels":                              "job.labels object of strings",
		"collection.defaults":                     "collection.defaults object",
		"defaults.retryPolicy.retryCount":         "collection.defaults.retryPolicy.retryCount integer",
		"defaults.errorAction[0].type":            "collection.defaults.errorAction.type word",
		"defaults.errorAction.errorAction.type":   "collection.defaults.errorAction.errorAction.type word",
	} {
		m, err := documents.Find(path)
		if got := m.Path + " " + m.Kind; err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", path, got, err, want)
		}
	}
	for path, want := range map[string]string{
		"":                        ` "" `,
		"jobs":                    ` "jobs" job`,
		"collections.quota":       ` "collections" collection`,
		"job.timeouts":            `job "timeouts" timeout`,
		"timeout.seconds":         `job.timeout "seconds" `,
		"action.request.url":      `job.action.request "url" uri`,
		"collection.quota.maxJob": `collection.quota "maxJob" maxJobCount`,
	} {
		_, err := documents.Find(path)
		missing, ok := errors.AsType[*explain.MissingError](err)
		if !ok {
			t.Errorf("%s: got %v", path, err)
			continue
		}
		if got := missing.Path + ` "` + missing.Name + `" ` + missing.Near; got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

// TestMembersByType tells which members go with all types of an action, and which with some.
func TestMembersByType(t *testing.T) {
	m := must.Get(explain.Ours().Find("job.action"))(t)
	for name, want := range map[string]string{
		"type": "", "retryPolicy": "", "errorAction": "", "request": "Http Https", "queueMessage": "StorageQueue",
	} {
		i := slices.IndexFunc(m.Members, func(m schema.Member) bool { return m.Name == name })
		if i < 0 || strings.Join(m.Members[i].Types, " ") != want {
			t.Errorf("%s goes with something else than %q", name, want)
		}
	}
}

func TestBelow(t *testing.T) {
	documents := explain.Ours()
	for word, want := range map[string]string{
		"": "job collection", "job.dst.g": "job.dst.gap job.dst.overlap", "dst.": "dst.gap dst.overlap", "nothing.": "",
	} {
		var paths []string
		for _, m := range documents.Below(word) {
			paths = append(paths, m.Path)
		}
		if got := strings.Join(paths, " "); got != want {
			t.Errorf("%q goes on with %q, want %q", word, got, want)
		}
	}
}

// TestDefaultsOfCollections: the defaults of a collection have members and descriptions as those of jobs have.
func TestDefaultsOfCollections(t *testing.T) {
	documents := explain.Ours()
	for defaults, same := range map[string]string{
		"collection.defaults.retryPolicy": "job.action.retryPolicy", "collection.defaults.errorAction": "job.action",
		"collection.defaults.labels": "job.labels", "collection.defaults.errorAction.request": "job.action.request",
	} {
		got, err := documents.Find(defaults)
		want, other := documents.Find(same)
		if err != nil || other != nil || len(got.Members) != len(want.Members) {
			t.Fatalf("%s has %d members, %s %d; %v, %v", defaults, len(got.Members), same, len(want.Members), err, other)
		}
		for i, m := range got.Members {
			if w := want.Members[i]; m.Name != w.Name || m.Kind != w.Kind || m.Description == "" || m.Description != w.Description {
				t.Errorf("%s has %s %s, %q, and %s has %s %s, %q", defaults, m.Name, m.Kind, m.Description, same, w.Name, w.Kind, w.Description)
			}
		}
	}
	m, err := documents.Find("collection.defaults")
	var names []string
	for _, inner := range m.Members {
		names = append(names, inner.Name)
	}
	if got := strings.Join(names, " "); err != nil || got != "timeout lateAfter labels retryPolicy errorAction" {
		t.Errorf("the defaults have %q, %v", got, err)
	}
}
