package rest_test

import (
	"net/http"
	"strings"
	"testing"
)

// secret is planted wherever a secret may stand.
const secret = "pl4nted-s3cret"

// withPassword is a job whose action has a password, and those parts of its
// document that are shown.
const withPassword = `{"startTime": "2099-01-01T00:00:00Z", "action": {"type": "Http", "request": {"uri": "http://target.example/hook",
	"method": "POST", "authentication": {"type": "Basic", "username": "me", "password": "` + secret + `"}}}}`

// TestSecrets follows shared secrets through every operation.
func TestSecrets(t *testing.T) {
	w := newHarness(t)
	refers := strings.Replace(withPassword, `"`+secret+`"`, `{"secretRef": "door"}`, 1)
	w.steps([]step{
		{"GET", "/secrets", "", `200 {"value":[],"nextLink":null}`},
		{"PUT", "/secrets/door", `{"value": "` + secret + `", "description": "of the door"}`, `201 {"name":"door","description":"of the door","created":"|"key":"k1"}`},
		{"PUT", "/secrets/door", "value: " + secret + "\n", `200 {"name":"door","created":"`},
		{"PUT", "/secrets/door", `{"value": ["` + secret + `"]}`, `400 "details":[{"path":"value","message":"must be a string, not an array"}]`},
		{"PUT", "/secrets/door", `{"value": "` + secret + `" "x"}`, `400 expected a comma or }`},
		{"PUT", "/secrets/my.door", `{"value": "` + secret + `"}`, `400 "path":"secret"|must not contain '.'`},
		{"GET", "/secrets", "", `200 {"value":[{"name":"door",|],"nextLink":null}`},
		{"PUT", "/jobCollections/default/jobs/job", refers, `201 "password":{"secretRef":"door"}`},
		{"DELETE", "/secrets/door", "", `409 "message":"secret door: conflict: jobs refer to it: default/job"`},
		{"DELETE", "/secrets/door?force=x", "", `400 "path":"force"`},
		{"DELETE", "/secrets/door?force=true", "", `200`},
		{"DELETE", "/secrets/door", "", `404 "message":"secret door: not found"`},
		{"PUT", "/jobCollections/default/jobs/other", refers, `400 "path":"action.request.authentication.password.secretRef","message":"no shared secret is called`},
		{"POST", "/secrets/rotate", "", `200 {"key":"k1","jobs":0,"secrets":0,"skipped":0,"failures":0,"failed":[]}`},
		{"POST", "/secrets/door", "", `404 "code":"UnknownRoute"`},
		{"GET", "/secrets/door", "", `405 "message":"GET is not possible here, only DELETE, POST, PUT"`},
	})
}

// TestSecretsOfJobs shows that no operation on a job shows what it keeps.
func TestSecretsOfJobs(t *testing.T) {
	const job = "/jobCollections/default/jobs/job"
	w := newHarness(t)
	shown := `"authentication":{"type":"Basic","username":"me"}`
	w.steps([]step{
		{"PUT", job, withPassword, `201 ` + shown},
		{"PUT", job, withPassword, `200 ` + shown},
		{"GET", job, "", `200 ` + shown},
		{"PATCH", job, `{"description": "new"}`, `200 ` + shown},
		{"GET", "/jobCollections/default/jobs", "", `200 ` + shown},
		{"GET", job, "", `200 "secrets":["action.request.authentication.password"]`},
		{"POST", job + "/disable", "", `200 ` + shown},
		{"POST", "/secrets/rotate", "", `200 "skipped":1`},
	})
	r := w.do(http.MethodPut, job, w.do(http.MethodGet, job, "").body)
	const want = `"path":"properties.action.request.authentication.password","message":"is required; secrets are not shown by get: send it again, or use PATCH"`
	if r.status != http.StatusBadRequest || !strings.Contains(r.body, want) {
		t.Errorf("put back as it was shown: %d %s", r.status, r.body)
	}
}
