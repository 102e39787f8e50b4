package worker_test

import (
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// TestLaterRunThatIsHardToFind has a job whose first run is found at once, and whose next one is behind thousands of times
// that are excluded one by one: it goes on.
func TestLaterRunThatIsHardToFind(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.put("job", `{`+action+`, "recurrence": {"rrule": "DTSTART:20000101T000000Z RRULE:FREQ=HOURLY;INTERVAL=86399;BYMONTH=1,6`+
			` RRULE:FREQ=HOURLY;INTERVAL=13;BYHOUR=1,2,3`+
			` EXRULE:FREQ=MINUTELY;INTERVAL=61;BYHOUR=1,2,3 EXRULE:FREQ=MINUTELY;INTERVAL=13;BYHOUR=1,2,3"}}`)
		time.Sleep(time.Minute)
		v := w.get("job")
		if got := len(w.sink.seen()); got != 1 || v.Job.State != scheduler.Enabled || v.Status.Next.Year() < 2020 {
			t.Errorf("%d calls; it is %s, and next due at %s", got, v.Job.State, v.Status.Next)
		}
		w.mustBeInOrder()
	})
}
