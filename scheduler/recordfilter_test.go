package scheduler_test

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// TestRecordFilter: which records are wanted of which job.
func TestRecordFilter(t *testing.T) {
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	const present, gone = "present1", "gone5678"
	for name, test := range map[string]struct {
		filter scheduler.RecordFilter
		want   string // of the records: a the present job's, b an earlier one's, c of a version that wrote no uid
		alone  string // the same where there is no such job any more
	}{
		"nothing is asked":       {scheduler.RecordFilter{}, "ac", ""},
		"earlier":                {scheduler.RecordFilter{Earlier: true}, "b", "abc"},
		"of the present one":     {scheduler.RecordFilter{UID: present}, "a", "a"},
		"of a full uid":          {scheduler.RecordFilter{UID: gone + "ABCDEF"}, "b", "b"},
		"of nobody":              {scheduler.RecordFilter{UID: "gone"}, "", ""},
		"an outcome":             {scheduler.RecordFilter{Outcomes: []scheduler.Outcome{scheduler.OutcomeFailed, scheduler.OutcomeSkipped}}, "c", ""},
		"since when it ended":    {scheduler.RecordFilter{Since: at.Add(time.Second)}, "c", ""},
		"since when it started":  {scheduler.RecordFilter{Since: at}, "ac", ""},
		"until when it started":  {scheduler.RecordFilter{Until: at}, "a", ""},
		"until before it":        {scheduler.RecordFilter{Until: at.Add(-1), Earlier: true}, "", ""},
		"between, of the others": {scheduler.RecordFilter{Since: at, Until: at.Add(time.Minute), Earlier: true}, "b", "abc"},
	} {
		records := map[string]scheduler.Record{
			"a": {UID: present, Outcome: scheduler.OutcomeCompleted, Started: at, Ended: at.Add(time.Second)},
			"b": {UID: gone, Outcome: scheduler.OutcomeCompleted, Started: at, Ended: at.Add(time.Second)},
			"c": {Outcome: scheduler.OutcomeSkipped, Ended: at.Add(time.Second)},
		}
		var got, alone []string
		for _, letter := range []string{"a", "b", "c"} {
			r := records[letter]
			if test.filter.Admits(&r, present, true) {
				got = append(got, letter)
			}
			if test.filter.Admits(&r, "", false) {
				alone = append(alone, letter)
			}
		}
		if strings.Join(got, "") != test.want || strings.Join(alone, "") != test.alone {
			t.Errorf("%s: got %q and %q, want %q and %q", name, got, alone, test.want, test.alone)
		}
	}
}

// TestRecordFilterPassed: reading backwards ends where nothing younger can be.
func TestRecordFilterPassed(t *testing.T) {
	since := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	filter := scheduler.RecordFilter{Since: since}
	for stored, want := range map[time.Time]bool{
		{}: false, since: false, since.Add(-time.Minute): false, since.Add(-time.Minute - 1): true,
	} {
		if got := filter.Passed(&scheduler.Record{Stored: stored, Started: since.Add(-time.Hour)}); got != want {
			t.Errorf("%s: %v", stored, got)
		}
	}
	if (&scheduler.RecordFilter{}).Passed(&scheduler.Record{Stored: since}) {
		t.Error("nothing is asked, and it ends")
	}
}
