package spec

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// TestSmallestGapIsBounded shows that a search for the smallest gap comes to an end after so much work, and finds the gap of
// many rules long before.
func TestSmallestGapIsBounded(t *testing.T) {
	for _, rules := range []int{1, 4, 64} {
		rrule := "DTSTART:20240101T000000Z RRULE:FREQ=HOURLY" +
			strings.Repeat(" EXRULE:FREQ=SECONDLY;INTERVAL=7207;BYMONTH=2;BYMONTHDAY=29", rules-1)
		p := planOf(t, `{"recurrence":{"rrule":"`+rrule+`"}}`, time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC))
		m := work.New(gapWork)
		if got := p.smallestGap(m, time.Minute); got != time.Hour {
			t.Errorf("%d rules: %v apart", rules, got)
		}
		if most := int64(gapWork + gapWork/10); m.Spent() > most {
			t.Errorf("%d rules: %d units of work, want %d at most", rules, m.Spent(), most)
		}
	}
}
