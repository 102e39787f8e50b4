package records_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler/console/records"
)

// TestSpacesInTimes: lengths of time are read as people write them.
func TestSpacesInTimes(t *testing.T) {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	f := records.Read(url.Values{"since": {" 24 h"}, "until": {"1 h 30 m "}})
	q, err := f.Query(t.Context(), now)
	if err != nil || !q.Since.Equal(now.Add(-24*time.Hour)) || !q.Until.Equal(now.Add(-90*time.Minute)) {
		t.Errorf("got %v to %v, %v", q.Since, q.Until, err)
	}
}
