package rest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestRecordedStart: a job of a startTime that is past, without a recurrence, runs as soon as it can; one that recurs without an interval
// does so every one; and a disabled one has no next run.
func TestRecordedStart(t *testing.T) {
	w := azure(t)
	const jobs = managed + "/c/jobs/"
	const doc = `{"properties":{"startTime":"2015-07-13T00:00:00Z","action":{"type":"Http","request":{"uri":"http://www.bing.com/","method":"GET"}}%s}}`
	w.must("PUT", managed+"/c"+version, "")
	w.must("PUT", jobs+"once"+version, fmt.Sprintf(doc, ""))
	if next := time.Until(w.next(jobs + "once" + version)); next < -20*time.Second || next > 20*time.Second {
		t.Errorf("it runs in %v", next)
	}
	w.must("PUT", jobs+"hourly"+version, fmt.Sprintf(doc, `,"recurrence":{"frequency":"Hour"}`))
	if next := w.next(jobs + "hourly" + version); time.Until(next) > time.Hour || !next.Equal(next.Truncate(time.Hour)) {
		t.Errorf("without an interval it runs at %v", next)
	}
	w.must("PATCH", jobs+"hourly"+version, `{"properties":{"state":"Disabled"}}`)
	if r := w.do("GET", jobs+"hourly"+version, ""); !strings.Contains(r.body, `"state":"disabled"`) || strings.Contains(r.body, "nextExecutionTime") {
		t.Errorf("disabled it is %s", r.body)
	}
}

// TestRecordedLimits: what Azure Scheduler refused with 400 is refused so, up to the last value that it took.
func TestRecordedLimits(t *testing.T) {
	w := azure(t)
	w.must("PUT", managed+"/c"+version, "")
	headers := func(n, size int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf("%q:%q", fmt.Sprintf("H%03d", i), strings.Repeat("x", size))
		}
		return `"headers":{` + strings.Join(all, ",") + `}`
	}
	uri := func(size int) string {
		return `"uri":"http://h.example/` + strings.Repeat("x", size-len("http://h.example/")) + `"`
	}
	retry := func(policy string) string {
		return `"action":{"type":"Http","request":{"uri":"http://h.example/","method":"GET"},"retryPolicy":{"retryType":"fixed",` + policy + `}}`
	}
	request := func(members string) string {
		if !strings.Contains(members, `"uri"`) {
			members += `,"uri":"http://h.example/"`
		}
		return `"action":{"type":"Http","request":{"method":"POST",` + members + `}}`
	}
	recurs := func(members string) string {
		return `"startTime":"2099-01-01T00:00:00Z","recurrence":{` + members + `},` + request(`"body":""`)
	}
	for i, test := range []struct{ name, most, over, path string }{
		{"retries", retry(`"retryCount":20`), retry(`"retryCount":21`), "retryCount"},
		{"retry interval", retry(`"retryInterval":"PT15S"`), retry(`"retryInterval":"PT14S"`), "retryInterval"},
		{"longest retry interval", retry(`"retryInterval":"P18M"`), retry(`"retryInterval":"P19M"`), "retryInterval"},
		{"URL", request(uri(2048)), request(uri(2049)), "uri"},
		{"headers", request(headers(50, 1)), request(headers(51, 1)), "headers"},
		{"size of headers", request(headers(4, 1000)), request(headers(4, 1100)), "headers"},
		{"body", request(`"body":"` + strings.Repeat("x", 8192) + `"`), request(`"body":"` + strings.Repeat("x", 8193) + `"`), "body"},
		{"minutes", recurs(`"frequency":"minute","interval":1000`), recurs(`"frequency":"minute","interval":1001`), "recurrence.interval"},
		{"hours", recurs(`"frequency":"hour","interval":1000`), recurs(`"frequency":"hour","interval":1001`), "recurrence.interval"},
		{"days", recurs(`"frequency":"day","interval":548`), recurs(`"frequency":"day","interval":549`), "recurrence.interval"},
		{"weeks", recurs(`"frequency":"week","interval":78`), recurs(`"frequency":"week","interval":79`), "recurrence.interval"},
		{"months", recurs(`"frequency":"month","interval":18`), recurs(`"frequency":"month","interval":19`), "recurrence.interval"},
		{
			"days of a month", recurs(`"frequency":"month","schedule":{"monthDays":[-31,31]}`),
			recurs(`"frequency":"month","schedule":{"monthDays":[32]}`), "monthDays",
		},
		{
			"occurrences in a month", recurs(`"frequency":"month","schedule":{"monthlyOccurrences":[{"day":"Friday","Occurrence":-5}]}`),
			recurs(`"frequency":"month","schedule":{"monthlyOccurrences":[{"day":"Friday","Occurrence":0}]}`), "monthlyOccurrences",
		},
		{
			"days of a week", recurs(`"frequency":"week","schedule":{"weekDays":["Monday"]}`),
			recurs(`"frequency":"day","schedule":{"weekDays":["Monday"]}`), "weekDays",
		},
		{"frequency", recurs(`"frequency":"day"`), recurs(`"interval":1`), "recurrence"},
	} {
		job := managed + "/c/jobs/j" + itoa(i) // another one each time: a job that is due is edited after a moment
		if r := w.do("PUT", job+version, `{"properties":{`+test.most+`}}`); r.status != 200 && r.status != 201 {
			t.Errorf("%s: the last that is allowed: %d %s", test.name, r.status, r.body)
		}
		if r := w.do("PUT", job+version, `{"properties":{`+test.over+`}}`); r.status != 400 || !strings.Contains(r.body, test.path) {
			t.Errorf("%s: the first that is not allowed: %d %s", test.name, r.status, r.body)
		}
	}
}
