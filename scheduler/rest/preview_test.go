package rest_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestPreview asks when jobs would run, rightly and wrongly. Nothing is stored.
func TestPreview(t *testing.T) {
	w := newWorld(t)
	w.steps([]step{
		{
			"POST", "/preview", `{"properties": {"timeZone": "America/New_York", "recurrence": {"cron": "30 2 * * *"}}, "now": "2026-03-07T12:00:00Z", "count": 2}`,
			`200 {"utc":["2026-03-08T07:00:00Z","2026-03-09T06:30:00Z"],"local":["2026-03-08T03:00:00-04:00","2026-03-09T02:30:00-04:00"],"complete":false,"description":"|` +
				`"notes":["2026-03-08 02:30 does not exist in America/New_York: runs at 03:00"],"timeZone":"America/New_York"}`,
		},
		{"POST", "/preview", `{"properties": {"startTime": "2030-01-10", "recurrence": {"frequency": "week"}}, "after": "2030-01-17", "count": 1}`, `200 {"utc":["2030-01-24T00:00:00Z"],"local":["2030-01-24T00:00:00Z"]|"notes":[]`},
		{"POST", "/preview?api-version=2016-03-01", later, `200 {"utc":["2099-01-01T00:00:00Z"],"local":["2099-01-01T00:00:00Z"],"complete":true`},
		{"POST", "/preview", "startTime: 2099-01-01\nrecurrence: {frequency: day, endTime: 2098-01-01}", `200 {"utc":[],"local":[],"complete":true|"notes":["never runs: endTime is before startTime"]`},
		{"POST", "/preview", `{"recurrence": {"cron": "0 0 30 2 *"}}`, `200 {"utc":[],"local":[],"complete":true|"notes":["never runs`},
		{"POST", "/preview", "", `400 {"error":{"code":"BadRequest","message":"the document is empty"`},
		{"POST", "/preview", "[]", `400 {"path":"","message":"the document must be an object, not an array"}`},
		{"POST", "/preview", "{", `400 1:2: `},
		{"POST", "/preview", `{"recurence": {}}`, `400 {"path":"recurence","message":"unknown field; did you mean \"recurrence\"?"}`},
		{"POST", "/preview", `{"properties": {"recurrence": {"cron": "* * * * *", "cronn": 1}}}`, `400 "path":"properties.recurrence.cronn"|did you mean \"cron\"?`},
		{"POST", "/preview", `{"properties": {"recurrence": {"cron": "* * * * *", "rrule": "RRULE:FREQ=DAILY"}}}`, `400 {"path":"properties.recurrence.rrule","message":"cannot be used together with cron`},
		{"POST", "/preview", `{"properties": {"recurrence": {"cron": "0 32 * * *"}}}`, `400 {"path":"properties.recurrence.cron","message":"column 3, field 2`},
		{"POST", "/preview", `{"properties": {"recurrence": {"cron": "0 0 12 ? * MON"}}}`, `400 "path":"properties.recurrence.cron","message":"column |hint: `},
		{"POST", "/preview", `{"properties": {"recurrence": {"cron": "every 5 minutes"}}}`, `400 "path":"properties.recurrence.cron"|hint: |*/5`},
		{"POST", "/preview", `{"properties": {"recurrence": {"rrule": "DTSTART:20300101T000000Z RRULE:FREQ=DAYLY"}}}`, `400 "path":"properties.recurrence.rrule","message":"column `},
		{"POST", "/preview", `{"properties": {"recurrence": {"cron": 5}}}`, `400 {"path":"properties.recurrence.cron","message":"must be a string, not a number"}`},
		{"POST", "/preview", `{"properties": {"recurrence": "0 0 * * *"}}`, `400 {"path":"properties.recurrence","message":"must be an object, not a string"}`},
		{"POST", "/preview", `{"properties": {"timeZone": "America/NewYork"}}`, `400 {"path":"properties.timeZone"|did you mean \"America/New_York\"?`},
		{"POST", "/preview", `{"properties": {"dst": {"overlap": "second"}}}`, `400 {"path":"properties.dst.overlap","message":"\"second\" is not one of first, both`},
		{"POST", "/preview", `{"properties": {"dst": "skip"}}`, `400 {"path":"properties.dst"`},
		{"POST", "/preview", `{"properties": {"startTime": "2030-01-01T09"}}`, `400 {"path":"properties.startTime"`},
		{"POST", "/preview", `{"now": "noon", "after": 5}`, `400 {"path":"now"|{"path":"after","message":"must be a string, not a number"}`},
		{"POST", "/preview", `{"count": 0}`, `400 {"path":"count","message":"0 is not in 1-1000"}`},
		{"POST", "/preview", `{"count": 1001}`, `400 {"path":"count","message":"1001 is not in 1-1000"}`},
		{"POST", "/preview", `{"count": 2.0}`, `400 {"path":"count","message":"must be a whole number, not 2.0"}`},
		{"POST", "/preview", `{"count": 1, "count": 2}`, `400 duplicate field`},
		{"POST", "/preview", strings.Repeat("x", 17<<10), `413 is 17408 bytes long, at most 16384 (16 KB)`},
		{"POST", "/preview", strings.Repeat("x", 1<<20+1), `413 "RequestTooLarge"`},
		{"GET", "/preview", "", `405 "MethodNotAllowed"|POST`},
		{"POST", "/preview/", "{}", `404 "UnknownRoute"`},
		{"GET", "/jobCollections/default/jobs", "", `200 {"value":[],"nextLink":null}`},
	})
	if r := w.do(http.MethodPut, "/preview", "{}"); r.header.Get("Allow") != "POST" {
		t.Errorf("Allow: %s", r.header.Get("Allow"))
	}
}

// TestDryRunSaysWhatItDidNotFind puts a rule whose second run takes too much work to find.
func TestDryRunSaysWhatItDidNotFind(t *testing.T) {
	w := newWorld(t)
	const rule = "DTSTART:20990101T000000Z RRULE:FREQ=HOURLY;INTERVAL=86399;BYMONTH=1,6 RRULE:FREQ=HOURLY;INTERVAL=13;BYHOUR=1,2,3" +
		" EXRULE:FREQ=MINUTELY;INTERVAL=61;BYHOUR=1,2,3 EXRULE:FREQ=MINUTELY;INTERVAL=13;BYHOUR=1,2,3"
	const action = `"action": {"type": "Http", "request": {"method": "GET", "uri": "http://192.0.2.1/"}}`
	w.steps([]step{
		{
			"PUT", "/jobCollections/default/jobs/costly?dryRun=true", `{"recurrence": {"rrule": "` + rule + `"}, ` + action + `}`,
			`200 "nextRuns":["2099-01-01T00:00:00Z"]|the list is cut short`,
		},
		{
			"PUT", "/jobCollections/default/jobs/once?dryRun=true", `{"recurrence": {"rrule": "DTSTART:20990101T000000Z RRULE:FREQ=DAILY;COUNT=1"}, ` + action + `}`,
			`200 "nextRuns":["2099-01-01T00:00:00Z"]|"notes":[]`,
		},
	})
}
