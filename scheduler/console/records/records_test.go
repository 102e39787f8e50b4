package records_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/consoletest"
	"github.com/carillon-sched/carillon/scheduler/console/records"
)

// TestSpacesInTimes: lengths of time are read as people write them.
func TestSpacesInTimes(t *testing.T) {
	f := records.Read(url.Values{"since": {" 24 h"}, "until": {"1 h 30 m "}})
	q, err := f.Query(t.Context(), consoletest.New(t).Service)
	if err != nil || q.Until.Sub(q.Since) != 24*time.Hour-90*time.Minute {
		t.Errorf("got %v to %v, %v", q.Since, q.Until, err)
	}
}

// TestPartsOfNames: the name of a job selects the job; anything else is a part of names.
func TestPartsOfNames(t *testing.T) {
	w := consoletest.New(t)
	w.Put("default/report", `{"recurrence": {"cron": "0 0 1 1 *"},
		"action": {"type": "http", "request": {"method": "GET", "uri": "http://127.0.0.1:1/"}}}`)
	ctx := auth.With(t.Context(), &auth.Principal{Grants: []auth.Grant{{Role: auth.Reader}}})
	for _, c := range []struct{ collection, job, key, part string }{
		{"", "report", "default/report", ""},
		{"default", "report", "default/report", ""},
		{"", "default/report", "default/report", ""},
		{"", "repo", "/", "repo"},
		{"default", "Rep", "default/", "Rep"},
		{"", "default/rep", "/", "default/rep"},
	} {
		f := records.Filter{Collection: c.collection, Job: c.job}
		q, err := f.Query(ctx, w.Service)
		if err != nil || q.Key.Collection+"/"+q.Key.Job != c.key || strings.Join(q.Jobs, " ") != c.part {
			t.Errorf("%s %s: %v, part %q (%v)", c.collection, c.job, q.Key, q.Jobs, err)
		}
	}
}
