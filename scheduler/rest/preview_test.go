package rest_test

import (
	"testing"
)

// TestPreview asks when jobs would run, rightly and wrongly. Nothing is stored. Package control tests the previews.
func TestPreview(t *testing.T) {
	w := newHarness(t)
	w.steps([]step{
		{
			"POST", "/preview", `{"properties": {"timeZone": "America/New_York", "recurrence": {"cron": "30 2 * * *"}}, "now": "2026-03-07T12:00:00Z", "count": 2}`,
			`200 {"utc":["2026-03-08T07:00:00Z","2026-03-09T06:30:00Z"],"local":["2026-03-08T03:00:00-04:00","2026-03-09T02:30:00-04:00"],"complete":false,"description":"|` +
				`"notes":["2026-03-08 02:30 does not exist in America/New_York: runs at 03:00"],"timeZone":"America/New_York"}`,
		},
		{"POST", "/preview", `{"properties": {"startTime": "2030-01-10", "recurrence": {"frequency": "week"}}, "after": "2030-01-17", "count": 1}`, `200 {"utc":["2030-01-24T00:00:00Z"],"local":["2030-01-24T00:00:00Z"]|"notes":[]`},
		{"POST", "/preview?api-version=2016-03-01", later, `200 {"utc":["2099-01-01T00:00:00Z"],"local":["2099-01-01T00:00:00Z"],"complete":true`},
		{"POST", "/preview", "startTime: 2099-01-01\nrecurrence: {frequency: day, endTime: 2098-01-01}", `200 {"utc":[],"local":[],"complete":true|"notes":["never runs: endTime is before startTime"]`},
		{"POST", "/preview", "", `400 {"error":{"code":"BadRequest","message":"the document is empty"`},
		{"POST", "/preview", "{", `400 1:2: `},
		{"POST", "/preview", `{"recurence": {}}`, `400 {"path":"recurence","message":"unknown field; did you mean \"recurrence\"?"}`},
		{"POST", "/preview", `{"properties": {"recurrence": {"cron": "* * * * *", "cronn": 1}}}`, `400 "path":"properties.recurrence.cronn"|did you mean \"cron\"?`},
		{"POST", "/preview", `{"now": "noon", "after": 5}`, `400 {"path":"now"|{"path":"after","message":"must be a string, not a number"}`},
		{"POST", "/preview", `{"count": 0}`, `400 {"path":"count","message":"0 is not in 1-1000"}`},
		{"GET", "/preview", "", `405 "MethodNotAllowed"|POST`},
		{"POST", "/preview/", "{}", `404 "UnknownRoute"`},
		{"GET", "/jobCollections/default/jobs", "", `200 {"value":[],"nextLink":null}`},
	})
}

// TestDryRunSaysWhatItDidNotFind puts a rule whose second run takes too much work to find.
func TestDryRunSaysWhatItDidNotFind(t *testing.T) {
	w := newHarness(t)
	const rule = "DTSTART:20990101T000000Z RRULE:FREQ=HOURLY;INTERVAL=86399;BYMONTH=1,6 RRULE:FREQ=HOURLY;INTERVAL=13;BYHOUR=1,2,3,4,5,6,7,8;BYMINUTE=0,13,26,39,52" +
		" EXRULE:FREQ=MINUTELY;INTERVAL=61;BYHOUR=1,2,3,4,5,6,7,8 EXRULE:FREQ=MINUTELY;INTERVAL=13;BYHOUR=1,2,3,4,5,6,7,8"
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
