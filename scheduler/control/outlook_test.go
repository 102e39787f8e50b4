package control_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/control"
)

// TestOutlook looks at a year from 1 January 2000 on, a Saturday.
func TestOutlook(t *testing.T) {
	for _, test := range []struct {
		name, body string
		from       string
		first      string // day with the first runs
		runs, days int    // of that day, and how many days have any
	}{
		{"every second", `{"recurrence": {"frequency": "second"}}`, "1999-12-27", "2000-01-01", 86400, 366},
		{"daily elsewhere", `{"recurrence": {"cron": "0 9 * * *"}, "timeZone": "Asia/Tokyo"}`, "1999-12-27", "2000-01-01", 1, 366},
		{"Mondays", `{"recurrence": {"cron": "0 9 * * MON"}}`, "1999-12-27", "2000-01-03", 1, 52},
		{"far away", `{"startTime": "2030-01-02"}`, "2029-12-31", "2030-01-02", 1, 1},
		{"never", `{"recurrence": {"cron": "0 0 30 2 *"}}`, "1999-12-27", "", 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				o := must.Get(control.Previewer{}.Outlook(t.Context(), []byte(test.body)))(t)
				days, first, runs := 0, "", 0
				for i, n := range o.Days {
					if n > 0 && days == 0 {
						first, runs = o.From.AddDate(0, 0, i).Format(time.DateOnly), n
					}
					if n > 0 {
						days++
					}
				}
				from := o.From.Format(time.DateOnly)
				if from != test.from || first != test.first || runs != test.runs || days != test.days || len(o.Days) != 371 {
					t.Errorf("from %s, %s with %d runs, %d of %d days", from, first, runs, days, len(o.Days))
				}
			})
		})
	}
}

// TestOutlookProblems has all problems of the members that say when a job runs, and warnings with their places.
func TestOutlookProblems(t *testing.T) {
	_, err := control.Previewer{}.Outlook(t.Context(), []byte(
		`{"recurrence": {"cron": "0 0 32 * *"}, "jitter": "2d", "catchUp": {"policy": "never", "window": "0s"}, "overlap": "maybe"}`,
	))
	if !errors.Is(err, scheduler.ErrInvalid) {
		t.Fatal(err)
	}
	for _, path := range []string{"recurrence.cron: column 5", "jitter: ", "catchUp.policy: ", "catchUp.window: ", "overlap: "} {
		if !strings.Contains(err.Error(), path) {
			t.Errorf("%s is missing in %s", path, err)
		}
	}
	o, err := control.Previewer{}.Outlook(t.Context(), []byte(`{"recurrence": {"cron": "0 0 30 2 *"}}`))
	if err != nil || len(o.Warnings) == 0 || o.Warnings[0].Path == "" {
		t.Errorf("%+v %v", o, err)
	}
}

// TestOutlookEndsWithItsReader costs nothing once nobody waits for it.
func TestOutlookEndsWithItsReader(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (control.Previewer{}).Outlook(ctx, []byte(`{}`)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
