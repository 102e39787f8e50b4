package spec

import (
	"strings"
	"testing"
	"time"
)

// TestGapSteps bounds what a search for the smallest gap asks of rules, however many they are.
func TestGapSteps(t *testing.T) {
	for rules, want := range map[int]int{1: gapSteps, gapRules: gapSteps, 64: 1250} {
		rrule := "DTSTART:20240101T000000Z RRULE:FREQ=HOURLY" +
			strings.Repeat(" EXRULE:FREQ=SECONDLY;INTERVAL=7207;BYMONTH=2;BYMONTHDAY=29", rules-1)
		p := planOf(t, `{"recurrence":{"rrule":"`+rrule+`"}}`, time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC))
		if got := p.gapSteps(); got != want {
			t.Errorf("%d rules: %d steps, want %d", rules, got, want)
		}
		if got := p.SmallestGap(time.Minute); got != time.Hour {
			t.Errorf("%d rules: %v apart", rules, got)
		}
	}
	if got := planOf(t, `{"recurrence":{"cron":"0 9 * * *"}}`, time.Time{}).gapSteps(); got != gapSteps {
		t.Errorf("cron: %d steps", got)
	}
}
