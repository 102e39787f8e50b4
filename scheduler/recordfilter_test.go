package scheduler_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// TestRecordFilter checks which records filters select.
func TestRecordFilter(t *testing.T) {
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	yes, no := true, false
	const present, gone = "present1", "gone5678"
	for name, test := range map[string]struct {
		filter scheduler.RecordFilter
		want   string // of the records: a and c the present job's, b an earlier one's
		alone  string // the same where there is no such job any more
	}{
		"nothing is asked":       {scheduler.RecordFilter{}, "ac", ""},
		"earlier":                {scheduler.RecordFilter{Earlier: true}, "b", "abc"},
		"of the present one":     {scheduler.RecordFilter{UID: present}, "ac", "ac"},
		"of a full uid":          {scheduler.RecordFilter{UID: gone + "ABCDEF"}, "b", "b"},
		"of nobody":              {scheduler.RecordFilter{UID: "gone"}, "", ""},
		"an outcome":             {scheduler.RecordFilter{Outcomes: []scheduler.Outcome{scheduler.OutcomeFailed, scheduler.OutcomeSkipped}}, "c", ""},
		"since when it ended":    {scheduler.RecordFilter{Since: at.Add(time.Second)}, "c", ""},
		"since when it started":  {scheduler.RecordFilter{Since: at}, "ac", ""},
		"until when it started":  {scheduler.RecordFilter{Until: at}, "a", ""},
		"until before it":        {scheduler.RecordFilter{Until: at.Add(-1), Earlier: true}, "", ""},
		"ended since":            {scheduler.RecordFilter{EndedSince: at.Add(2 * time.Second)}, "c", ""},
		"ended until":            {scheduler.RecordFilter{EndedUntil: at.Add(time.Second)}, "a", ""},
		"a part of a name":       {scheduler.RecordFilter{Jobs: []string{"x", "T/Rep"}}, "ac", ""},
		"not a part of a name":   {scheduler.RecordFilter{Jobs: []string{"reports"}}, "", ""},
		"an action":              {scheduler.RecordFilter{ActionTypes: []string{"http"}}, "a", ""},
		"the errorAction":        {scheduler.RecordFilter{Phases: []scheduler.Phase{scheduler.ErrorPhase}, Earlier: true}, "b", "b"},
		"the main action":        {scheduler.RecordFilter{Phases: []scheduler.Phase{scheduler.MainPhase}}, "ac", ""},
		"a target":               {scheduler.RecordFilter{Targets: []string{"Example.com:443"}}, "a", ""},
		"a host of targets":      {scheduler.RecordFilter{Targets: []string{"example.com"}, Earlier: true}, "b", "ab"},
		"a part of a target":     {scheduler.RecordFilter{Targets: []string{"example", "ample.com", "443"}}, "", ""},
		"none of the targets":    {scheduler.RecordFilter{Targets: []string{""}}, "c", ""},
		"by hand":                {scheduler.RecordFilter{Manual: &yes, Earlier: true}, "b", "b"},
		"not by hand":            {scheduler.RecordFilter{Manual: &no}, "ac", ""},
		"all of it at once":      {scheduler.RecordFilter{ActionTypes: []string{"Http"}, Targets: []string{"example.com"}, Manual: &yes}, "", ""},
		"between, of the others": {scheduler.RecordFilter{Since: at, Until: at.Add(time.Minute), Earlier: true}, "b", "abc"},
	} {
		records := map[string]scheduler.Record{
			"a": {
				UID: present, Outcome: scheduler.OutcomeCompleted, Started: at, Ended: at.Add(time.Second), Type: "Http", Target: "example.com:443",
			},
			"b": {
				UID: gone, Outcome: scheduler.OutcomeCompleted, Started: at, Ended: at.Add(time.Second), Type: "StorageQueue",
				Target: "example.com:8443", Phase: scheduler.ErrorPhase, Kind: scheduler.ManualDetached,
			},
			"c": {UID: present, Outcome: scheduler.OutcomeSkipped, Ended: at.Add(2 * time.Second)},
		}
		var got, alone []string
		for _, letter := range []string{"a", "b", "c"} {
			r := records[letter]
			r.Job = scheduler.Key{Collection: "default", Job: "report"}
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

// TestRecordFilterAdmitsDamaged checks that a damaged record counts as the current job's, as does every record of a
// damaged job.
func TestRecordFilterAdmitsDamaged(t *testing.T) {
	damaged, whole := scheduler.DamagedRecord(scheduler.OutcomeFailed, time.Time{}, errors.New("torn")), &scheduler.Record{UID: "present1"}
	for r, present := range map[*scheduler.Record]string{damaged: "present1", whole: ""} {
		if !new(scheduler.RecordFilter).Admits(r, present, true) || (&scheduler.RecordFilter{Earlier: true}).Admits(r, present, true) {
			t.Errorf("%+v counts as an earlier job's", r)
		}
	}
}

// TestRecordFilterPassed checks that reading backwards stops at records that are too old.
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
