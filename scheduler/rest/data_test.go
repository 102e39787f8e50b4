package rest_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// templated is a job whose body is filled in from its data.
func templated(target, body string) string {
	return fmt.Sprintf(`"action": {"type": "Http", "retryPolicy": {"retryType": "none"}, "request": {"uri": "%s/hook", "method": "POST",
		"template": true, "body": %q, "data": {"region": "eu", "size": "small"}}}`, target, body)
}

// bodies starts a target that tells the bodies of its requests.
func bodies(t *testing.T) (url string, got <-chan string) {
	t.Helper()
	all := make(chan string, 16)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		all <- string(body)
	}))
	t.Cleanup(s.Close)
	return s.URL, all
}

// TestDataReachesTarget sends what a job has as data.
func TestDataReachesTarget(t *testing.T) {
	w := newHarness(t)
	target, got := bodies(t)
	w.work()
	const job = "/jobCollections/default/jobs/job"
	action := templated(target, "{{json .Data.region}} {{.Data.size}}")
	w.steps([]step{
		{"PUT", job, `{"startTime": "2099-01-01", ` + action + `}`, `201`},
		{"PATCH", job, `{"data": {"region": "a\"b", "list": [1]}}`, `200 "data":{"region":"a\"b","list":[1]}`},
		{"PATCH", job, `{"data": {"list": null}}`, `200 "data":{"region":"a\"b"}`},
		{"PATCH", job, `{"data": 5}`, `400 "path":"data","message":"must be an object, not a number"`},
		{"PATCH", job, `{"action": {"request": {"body": "{{.Data.nothing}}"}}}`, `400 "path":"action.request.body"|.Data has no member .nothing; it has .region, .size`},
		{"PUT", "/jobCollections/default/jobs/plain", `{"data": {"x": {"y": 1}}, ` + action + `}`, `201 "data":{"x":{"y":1}}`},
		{"POST", "/preview", `{"data": {"x": 1}, "startTime": "2099-01-01", ` + action + `}`, `200`},
	})
	if body := <-got; body != `"eu" small` { // of plain
		t.Errorf("the target got %s", body)
	}
	w.must(http.MethodPost, job+"/run", "")
	if body := <-got; body != `"a\"b" small` {
		t.Errorf("the target got %s", body)
	}
}
