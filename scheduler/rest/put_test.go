package rest_test

import "testing"

// TestPutResult puts and patches a job in every way, and sees what the answers tell beside the job.
func TestPutResult(t *testing.T) {
	const (
		job   = "/jobCollections/default/jobs/job"
		other = `{"startTime": "2098-01-01T00:00:00Z", ` + action + `}`
		never = `{"properties": {"recurrence": {"cron": "0 9 31 2 *"}, ` + action + `}}`
		warns = `"warnings":[{"path":"properties.recurrence.cron","message":"never runs: no time matches"}]`
	)
	newHarness(t).steps([]step{
		{"PUT", job + "?dryRun=true", later, `200 "result":"created","dryRun":{"nextRuns":["2099-01-01T00:00:00Z"],"notes":[],"changes":[`},
		{"GET", job, "", `404`},
		{"PUT", job + "?dryRun=perhaps", later, `400 "path":"dryRun"|neither true nor false`},
		{"PUT", job, later, `201 }},"result":"created"}`},
		{"PUT", job, later, `200 }},"result":"unchanged"}`},
		{"PUT", job + "?dryRun=true", other, `200 2098-01-01|"result":"updated"`},
		{"GET", job, "", `200 2099-01-01|}}}`},
		{"PUT", job, other, `200 }},"result":"updated"}`},
		{"PATCH", job + "?dryRun=true", `{"description": "x"}`, `200 "description":"x"|"result":"updated"`},
		{"PATCH", job, `{}`, `200 "result":"unchanged"`},
		{"PATCH", job, `{"timeZone": "Europe/Paris", "result": "created", "warnings": []}`, `200 "result":"updated","warnings":[{"path":"timeZone","message":"Europe/Paris has no effect`},
		{"PUT", "/jobCollections/default/jobs/other?strict=true", never, `400 never runs: no time matches`},
		{"GET", "/jobCollections/default/jobs/other", "", `404`},
		{"PATCH", job + "?strict=true", `{"timeZone": "Asia/Tokyo"}`, `400 "path":"timeZone"`},
		{"GET", job, "", `200 "timeZone":"Europe/Paris"|2098-01-01`},
		{"PUT", job + "?strict=true", never, `400 "details":[{"path":"properties.recurrence.cron","message":"never runs: no time matches"}]`},
		{"PUT", "/jobCollections/default/jobs/never", never, `201 "state":"completed"|"message":"it never ran, and its schedule has no future time|"result":"created",` + warns},
		{"PUT", "/jobCollections/default/jobs/never", never, `200 "result":"unchanged",` + warns},
		{"POST", "/jobCollections/default/jobs/never/run", "", `409 it is completed: it never ran, and its schedule has no future time; change its schedule`},
		{"POST", "/doctor", "", `200 "findings":[]|"neverRan":["default/never"]`},
		{"PUT", "/jobCollections/default/jobs/never", later, `200 "state":"enabled"|"result":"updated"`},
		{"PUT", "/jobCollections/default/jobs/json", templatedJSON(`{\"why\": \"{{.Failure.Message}}\"}`), `201 "warnings":[{"path":"action.request.body","message":"makes invalid JSON|{{json .Failure.Reason}}`},
		{"PUT", "/jobCollections/default/jobs/json", templatedJSON(`{\"why\": {{json .Failure.Reason}}}`), `200 }},"result":"updated"}`},
		{"PUT", "/jobCollections/none/jobs/job?dryRun=true", later, `404 create it first`},
	})
}

// templatedJSON is a job that sends a template as JSON.
func templatedJSON(body string) string {
	return `{"startTime": "2099-01-01", "action": {"type": "Http", "request": {"method": "POST", "uri": "http://x.example", "template": true,
		"headers": {"Content-Type": "application/json; charset=utf-8"}, "body": "` + body + `"}}}`
}
