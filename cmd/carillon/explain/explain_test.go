package explain_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/cmd/carillon/explain"
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
	m, err := explain.Ours().Find("job.action")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"type": "", "retryPolicy": "", "errorAction": "", "request": "Http Https", "queueMessage": "StorageQueue",
	} {
		i := slices.IndexFunc(m.Members, func(m explain.Member) bool { return m.Name == name })
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
