package scheduler_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// TestLedger applies runs to a ledger. A run is the letter of its second.
func TestLedger(t *testing.T) {
	times := func(letters string) (all []time.Time) {
		for _, c := range letters {
			all = append(all, at("09:00:00").Add(time.Duration(c-'a')*time.Second))
		}
		return all
	}
	letters := func(all []time.Time) string {
		var b strings.Builder
		for _, one := range all {
			b.WriteRune(rune('a' + int(one.Sub(at("09:00:00"))/time.Second)))
		}
		return b.String()
	}
	for trigger, rows := range map[string][]struct {
		running, queued, enter, leave          string
		runs, waits, started, canceled, absent string
	}{
		`"overlap": "queue"`: {
			{"", "", "a", "", "a", "", "a", "", ""},
			{"", "", "ba", "", "a", "b", "a", "", ""}, // together: in order
			{"b", "", "a", "", "b", "a", "", "", ""},  // late
			{"a", "d", "c", "", "a", "cd", "", "", ""},
			{"a", "bc", "", "a", "b", "c", "b", "", ""},
			{"a", "bc", "", "b", "a", "c", "", "", ""}, // canceled while it waits
			{"a", "bc", "d", "a", "b", "cd", "b", "", ""},
			{"a", "b", "a", "", "a", "b", "", "", ""}, // again
			{"a", "b", "b", "", "a", "b", "", "", ""},
			{"a", "", "", "a", "", "", "", "", ""},
			{"a", "", "", "z", "a", "", "", "", ""},
			{"", "bc", "", "", "b", "c", "b", "", ""}, // the one in progress is lost
		},
		`"concurrency": 2`: {
			{"a", "", "bc", "", "ab", "c", "b", "", ""},
			{"ab", "cde", "", "ab", "cd", "e", "cd", "", ""},
		},
		`"overlap": "skip"`: {
			{"", "", "a", "", "a", "", "", "", ""},
			{"", "", "ba", "", "a", "", "", "", "b"},
			{"a", "", "b", "", "a", "", "", "", "b"},
			{"a", "", "a", "", "a", "", "", "", ""},
			{"a", "", "b", "a", "b", "", "", "", ""},
			{"a", "bc", "", "a", "b", "c", "b", "", ""}, // they waited before an edit
		},
		`"overlap": "cancelOther"`: {
			{"", "", "a", "", "a", "", "", "", ""},
			{"a", "", "b", "", "b", "", "", "a", ""},
			{"b", "", "a", "", "b", "", "", "a", "a"}, // late
			{"a", "", "bc", "", "c", "", "", "ab", "b"},
		},
		`"overlap": "cancelOther", "concurrency": 2`: {
			{"ab", "", "c", "", "bc", "", "", "a", ""},
			{"abc", "", "", "c", "ab", "", "", "", ""},
		},
		`"once": "PT1H"`: { // an edit has ended the limit
			{"a", "bc", "", "", "abc", "", "bc", "", ""},
			{"a", "b", "c", "", "abc", "", "bc", "", ""},
		},
	} {
		j := job(t, `"trigger": {"on": {"source": "orders"}, `+trigger+`}`)
		for i, row := range rows {
			l := scheduler.Ledger{Running: times(row.running), Queued: times(row.queued)}
			next, started, canceled := l.Apply(j.Def.Trigger, times(row.enter), times(row.leave), at("10:00:00"), 0)
			next, more, _ := next.Apply(j.Def.Trigger, nil, nil, at("10:00:01"), 0) // they have settled
			started = append(started, more...)
			absent := slices.DeleteFunc(times(row.enter), next.Has)
			got := fmt.Sprint([]string{letters(next.Running), letters(next.Queued), letters(canceled), letters(absent)})
			if want := fmt.Sprint([]string{row.runs, row.waits, row.canceled, row.absent}); got != want {
				t.Errorf("%s, row %d: %s, want %s", trigger, i, got, want)
			}
			if got := strings.Trim(letters(started), ""); got != row.started {
				t.Errorf("%s, row %d: started %q, want %q", trigger, i, got, row.started)
			}
			if letters(l.Running) != row.running || letters(l.Queued) != row.queued {
				t.Errorf("%s, row %d: the ledger itself changed: %+v", trigger, i, l)
			}
		}
	}
}

// TestLedgerFull fills the queue of a ledger, and stores it.
func TestLedgerFull(t *testing.T) {
	j := job(t, `"trigger": {"on": {"source": "orders"}, "overlap": "queue"}`)
	l, now := j.OpenLedger(nil, at("09:00:00")), at("09:00:00")
	var last time.Time
	for n := range 1002 {
		last = now.Add(time.Duration(n))
		l, _, _ = l.Apply(j.Def.Trigger, []time.Time{last}, nil, now.Add(time.Duration(n)*time.Second), 0)
	}
	if len(l.Running) != 1 || len(l.Queued) != 1000 || l.Has(last) {
		t.Errorf("%d run, %d wait", len(l.Running), len(l.Queued))
	}
	b := j.LedgerBaton("k", l, now)
	if got := j.OpenLedger(b.Encode(), now); !got.Equal(l) || !b.Rides(scheduler.LedgerSlot("k")) || len(b.Encode()) > 64<<10 {
		t.Errorf("stored: %+v in %d bytes", got, len(b.Encode()))
	}
	if r := j.UnadmittedRecord(&l, &scheduler.Baton{Nominal: last}, now); r.Reason != scheduler.ReasonOverlap || !strings.Contains(r.Message, "1000 runs of the key wait") {
		t.Errorf("record %+v", r)
	}
	if runs := l.Check(now.Add(59 * time.Second)); runs != nil {
		t.Errorf("checked early: %v", runs)
	}
	if runs := l.Check(now.Add(2 * time.Minute)); len(runs) != 1 || !l.Checked.Equal(now.Add(2*time.Minute)) {
		t.Errorf("checked: %v", runs)
	}
	if pause, settles, waits := l.Waits(l.Queued[2], now.Add(time.Second)); settles || !waits || pause != 3*time.Minute {
		t.Errorf("checks after %s", pause)
	}
}

// TestLedgerSettles lets runs of simultaneous events start in the order of the events.
func TestLedgerSettles(t *testing.T) {
	j := job(t, `"trigger": {"on": {"source": "orders"}, "overlap": "queue"}`)
	for late, settles := range map[time.Duration]time.Duration{
		time.Millisecond: 20 * time.Millisecond, 100 * time.Millisecond: 100 * time.Millisecond, time.Hour: 250 * time.Millisecond,
	} {
		first, second := at("09:00:00"), at("09:00:00").Add(time.Millisecond)
		now := second.Add(late)
		l, started, _ := new(scheduler.Ledger).Apply(j.Def.Trigger, []time.Time{second}, nil, now, late)
		if pause, fresh, waits := l.Waits(second, now); len(started) > 0 || !fresh || !waits || pause != settles {
			t.Errorf("%s late: started %v, pause %s", late, started, pause)
		}
		l, _, _ = l.Apply(j.Def.Trigger, []time.Time{first}, nil, now.Add(5*time.Millisecond), late)
		l, started, _ = l.Apply(j.Def.Trigger, []time.Time{second}, nil, now.Add(settles), late) // the first one settles
		if len(started) > 0 {
			t.Errorf("%s late: started %v", late, started)
		}
		l, started, _ = l.Apply(j.Def.Trigger, []time.Time{first}, nil, now.Add(5*time.Millisecond+settles), late)
		if len(started) != 1 || !l.Runs(first) || l.Runs(second) || len(l.Fresh) > 0 {
			t.Errorf("%s late: started %v: %+v", late, started, l)
		}
	}
}
