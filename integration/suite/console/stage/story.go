package stage

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
)

// Pages are the addresses of all pages that the story has something for.
var Pages = append([]string{
	"/",
	"/?since=24h",
	"/?since=2026-03-08+10:00&until=2026-03-09",
	"/console/jobs",
	"/console/jobs?q=nothing-has-this-name",
	"/console/jobs?state=enabled&sort=next&order=descending",
	"/console/jobs/new",
	"/console/jobs/new?template=servicebus",
	"/console/jobs/new?template=storagequeue",
	"/console/jobs/new?template=nats",
	"/console/jobs/default/failing/edit",
	"/console/jobs/default/failing/edit?as=yaml",
	"/console/failures",
	"/console/targets/127.0.0.1",
	"/console/jobs?target=127.0.0.1",
	"/console/live",
	"/console/live?outcome=failed&since=1h",
	"/console/calendar",
	"/console/calendar?view=week",
	"/console/calendar?date=2031-03-30&zone=Europe/Berlin",
	"/console/load",
	"/console/load?hours=168&collection=partners&wait=true",
	"/console/sign-in",
	"/console/jobs/default/failing",
	"/console/jobs/default/failing/why?at=now",
	"/console/audit", "/console/audit?collection=default&job=failing", "/console/audit?who=nobody-has-this-name",
	"/console/views?page=/console/jobs", "/console/secrets", "/console/tokens", "/console/members", "/console/check",
	"/console/jobs/default/failing/delete",
	"/console/jobs/default/escalate/edit",
	"/console/jobs/default/service-bus-queue/edit",
	"/console/jobs/default/hello/edit?as=yaml",
	"/console/jobs/partners/" + longName,
	"/console/jobs/partners/markup",
	"/console/jobs/partners/markup/copy",
	"/console/jobs/partners/right-to-left",
	"/console/jobs/partners/long-answer",
	"/console/jobs/partners/nightly",
	"/console/jobs/partners/nightly/next?n=100",
	"/console/jobs/partners/off",
	"/console/collections",
	"/console/collections/default",
	"/console/collections/partners",
	"/console/collections/partners/delete",
	"/console/jobs/new?from=partners/nightly",
	"/console/events", "/console/events?text=nothing-has-this-text", "/console/events?collection=partners&event=shop",
	"/console/events/partners/1?job=ship", "/console/events/partners/2", "/console/events/new",
	"/console/sources", "/console/sources/partners/shop",
	"/console/jobs/graph", "/console/jobs/graph?collection=partners", "/console/jobs/partners/ship",
}, QueuePages...)

// longName and longAlarm are as long as the name of a job may be.
var longName, longAlarm = strings.Repeat("Long", 25), strings.Repeat("Alarm", 20)

type object = map[string]any

// Fill adds jobs that are difficult to display: long names, markup, other scripts, failures.
func (s *Stage) Fill(ctx context.Context) error {
	status, body, err := s.Call(ctx, "PUT", "/jobCollections/partners", object{})
	if err != nil || status/100 != 2 {
		return fmt.Errorf("collection: %d %s (%v)", status, body, err) //nolint:errorlint // it may be nil
	}
	call := func(path string, more object) object {
		request := object{"method": "POST", "uri": s.HTTP + "/echo" + path}
		maps.Copy(request, more)
		return object{"type": "http", "request": request, "retryPolicy": object{"retryType": "none"}}
	}
	jobs := map[string]object{
		"partners/" + longName: {
			"description": "Its name is as long as a name may be.",
			"recurrence":  object{"frequency": "minute", "interval": 1}, "action": call("", nil),
		},
		"partners/markup": {
			"description": `<script>document.title = "taken"</script><img src=x onerror=alert(1)> "quoted" & 'quoted'`,
			"labels":      object{"html": `<b>bold</b>`, "rtl": "שלום עולם"},
			"recurrence":  object{"frequency": "second", "interval": 10},
			"action": call("?<script>alert(1)</script>", object{
				"body": `<script>document.title = "taken"</script>{{.}}</textarea></pre>`,
			}),
		},
		"partners/right-to-left": {
			"description": "\u202eטקסט מימין לשמאל\u202c مرحبا بالعالم",
			"recurrence":  object{"frequency": "minute", "interval": 1}, "action": call("", object{"body": "مرحبا بالعالم \u202eabc"}),
		},
		"partners/long-answer": {
			"recurrence": object{"frequency": "minute", "interval": 1},
			"action":     call("/status/500", object{"body": strings.Repeat("long ", 800)}),
		},
		"partners/nightly": {
			"description": "Closes the books of the day.", "timeZone": "Europe/Berlin", "labels": object{"team": "billing"},
			"recurrence": object{"cron": "30 2 * * *"}, "action": call("/delay/300ms", nil),
		},
		"partners/off": {
			"state": "disabled", "recurrence": object{"frequency": "hour", "interval": 1}, "action": call("", nil),
		},
		"partners/hourly": {
			"recurrence": object{"rrule": "DTSTART:20260101T000000Z\nRRULE:FREQ=HOURLY"}, "action": call("", nil),
		},
	}
	for name, job := range jobs {
		collection, job0, _ := strings.Cut(name, "/")
		if err := s.Put(ctx, collection, job0, job); err != nil {
			return err
		}
	}
	if err := s.fillEvents(ctx, call); err != nil {
		return err
	}
	return s.FillQueues(ctx)
}

// fillEvents adds a source, events that are difficult to display, and a chain.
func (s *Stage) fillEvents(ctx context.Context, call func(path string, more object) object) error {
	put := func(path string, document any) error {
		method := "PUT"
		if strings.HasPrefix(path, "events/") {
			method = "POST"
		}
		status, body, err := s.Call(ctx, method, "/jobCollections/partners/"+path, document)
		if err == nil && status/100 != 2 {
			err = fmt.Errorf("%s: %d %s", path, status, body)
		}
		return err
	}
	jobs := func(on ...object) object { return object{"trigger": object{"on": on}, "action": call("", nil)} }
	return errors.Join(
		put("sources/shop", object{
			"type": "webhook", "description": "<b>Orders</b> of the shop \u202egnirts",
			"webhook": object{"verify": object{"type": "none"}, "rateLimit": object{"requests": 10}},
		}),
		put("jobs/ship", jobs(object{"source": "shop", "filter": "event.data.total > 100"}, object{"job": "nightly"})),
		put("jobs/invoice", jobs(object{"job": "ship"})),
		put("jobs/"+longAlarm, jobs(object{"job": "ship", "outcome": "faulted"}, object{"job": "invoice", "outcome": "faulted"})),
		put("events/shop", object{
			"total": 120, "note": `<script>document.title = "taken"</script>`, "rtl": "\u202egnirts", "lines": []int{1, 2},
		}),
		put("events/shop", strings.Repeat("large ", 5000)),
	)
}
