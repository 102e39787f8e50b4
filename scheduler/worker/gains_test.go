package worker_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// gain is what a job does after the upgrade.
type gain struct {
	job   string
	first string // time and number of the first attempt
	gains string // outcomes of the new records
	ends  string // state, attempts, of these failed, occurrences that faulted; when the next is due
}

// inTurn is the first attempt of jobs of which nobody knows which comes first.
const inTurn = "in turn"

// gained says what u has made of a job since its earlier version showed want.
func (u *upgraded) gained(t *testing.T, name string, want storedView) gain {
	t.Helper()
	v, err := u.service.Get(t.Context(), keyOf(name))
	if err != nil {
		return gain{job: name, ends: err.Error()}
	}
	records, _, err := u.service.History(t.Context(), service.HistoryQuery{Key: keyOf(name)}, view.Page{})
	if err != nil {
		t.Fatal(err)
	}
	g, words := gain{job: name}, []string{}
	for _, r := range slices.Backward(records[:len(records)-len(want.History)]) {
		if g.first == "" && r.IsAttempt() {
			g.first = r.Started.Format("15:04:05") + " #" + strconv.Itoa(r.Try)
		}
		words = append(words, strings.TrimSpace(string(r.Outcome)+" "+string(r.Reason)))
	}
	for i := 0; i < len(words); {
		n := 1
		for i+n < len(words) && words[i+n] == words[i] {
			n++
		}
		g.gains += fmt.Sprintf(", %d %s", n, words[i])
		i += n
	}
	g.gains = strings.TrimPrefix(g.gains, ", ")
	s := v.Status
	g.ends = fmt.Sprintf("%s %d/%d/%d", v.Job.State, s.Executions, s.Failures, s.Faults)
	if !s.Next.IsZero() {
		g.ends += " next " + s.Next.Format("02T15:04:05")
	}
	return g
}

// gains is what each job of stored-v1.json does until 07:34:30, fifty-two
// minutes after the upgrade. The target that failed is well.
var gains = []gain{
	// Schedules go on, in each language.
	{"default/frequency", "06:55:00 #1", "1 completed", "enabled 2/0/0 next 02T07:55:00"},
	{"default/azure", "07:20:00 #1", "1 completed", "enabled 2/0/0 next 03T06:20:00"},
	{"default/jitter", "07:03:43 #1", "1 completed", "enabled 2/0/0 next 02T08:02:19"},
	{"default/cron", "07:00:00 #1", "2 completed", "completed 5/0/0"}, // its count is 5
	{"default/cronzone", "07:00:00 #1", "1 completed", "enabled 1/0/0 next 03T07:00:00"},
	{"default/dsaricron", "", "", "enabled 1/0/0 next 02T07:38:53"},
	{"default/rrule", "06:45:00 #1", "2 completed", "enabled 3/0/0 next 02T08:05:00"},
	{"default/awx", "07:15:00 #1", "1 completed", "enabled 2/0/0 next 02T08:15:00"},
	{"default/dsarirrule", "06:46:05 #1", "1 completed", "enabled 1/0/0 next 02T07:46:05"},
	{"default/every", "07:05:01 #1", "2 completed", "enabled 5/0/0 next 02T07:55:01"},

	// A change of the clock that was to come is recorded, and one that was recorded is not again.
	{"default/gap", "", "1 skipped dst", "enabled 0/0/0 next 02T08:30:00"},
	{"default/gapnext", "07:00:00 #1", "1 completed", "enabled 1/0/0 next 02T08:30:00"},
	{"default/gappast", "07:30:00 #1", "1 completed", "enabled 1/0/0 next 03T05:30:00"},

	// Retries go on with the right attempt, and an errorAction with its own.
	{"default/retrying", "06:46:00 #3", "2 completed", "enabled 4/2/0 next 02T08:22:00"},
	{"default/backoff", "06:51:19 #4", "1 completed", "completed 4/3/0"},
	{"default/erroraction", "06:50:00 #4", "1 completed, 1 faulted", "enabled 3/3/1 next 02T08:34:00"},

	// What was put off runs, once.
	{"default/limited1", inTurn, "1 completed", "completed 1/0/0"},
	{"default/limited2", inTurn, "1 completed", "completed 1/0/0"},
	{"default/broken", "06:57:02 #1", "1 completed", "completed 1/0/0"},
	{
		"default/brokenoften", "06:57:05 #1", "1 completed, 1 skipped postponed, 4 completed",
		"enabled 5/0/0 next 02T07:38:00",
	},
	{"default/overlapdeferred", "06:57:02 #1", "2 completed", "enabled 2/0/0 next 02T08:29:00"},
	{"default/sickoften", "06:44:00 #1", "17 completed", "enabled 24/0/0 next 02T07:35:00"},

	// The disabled collection is enabled at 06:50.
	{"off/waits", "06:50:00 #1", "1 completed", "completed 1/0/0"},
	{"off/often", "07:00:00 #1", "1 postponed, 3 completed", "enabled 3/0/0 next 02T07:45:00"},

	// Runs by hand: one in front of a planned occurrence, and two of jobs that stay disabled.
	{"default/byhand", "06:58:00 #2", "2 completed", "enabled 3/1/0 next 02T08:10:00"},
	{"default/handdisabled", "06:58:00 #2", "1 completed", "disabled 2/1/0"},
	{"default/handrunning", "06:42:01 #1", "1 completed", "disabled 1/0/0"},

	// Occurrences beside each other count once.
	{"default/overlap", "06:42:01 #1", "7 completed", "enabled 10/0/0 next 02T07:40:00"},
	{"default/merged", "06:45:00 #1", "3 completed", "completed 6/0/0"}, // its count is 6
	{"default/overlapretry", "06:51:00 #2", "2 completed", "enabled 3/1/0 next 02T08:31:00"},

	// What a worker had when it died runs again, but for what it had recorded.
	{"default/running", "06:42:01 #1", "2 completed", "enabled 2/0/0 next 02T08:32:00"},
	{"default/runningonce", "06:42:01 #1", "1 completed", "completed 1/0/0"},
	{"default/halfway", "07:33:00 #1", "1 completed", "enabled 2/0/0 next 02T08:33:00"},
	{"default/held", "06:42:01 #1", "1 completed", "enabled 1/0/0 next 02T07:42:01"},
	{"default/overlapped", "06:42:01 #1", "1 skipped catchUp, 11 completed", "enabled 12/0/0 next 02T07:35:00"},
	{"default/missed", "06:43:00 #1", "9 completed", "enabled 16/0/0 next 02T07:37:00"},
	{"default/caughtup", "06:46:00 #1", "5 completed", "enabled 10/0/0 next 02T07:36:00"},

	// What has ended stays as it is, with its counters.
	{"default/disabled", "", "", "disabled 2/0/0"},
	{"default/turned", "", "", "disabled 8/0/0"}, // by a spec
	{"default/completed", "", "", "completed 2/0/0"},
	{"default/faulted", "", "", "faulted 1/1/1"},
	{"default/opener", "", "", "faulted 2/2/1"},
	{"default/sickopener", "", "", "faulted 1/1/1"},
	{"default/limited0", "", "", "completed 1/0/0"},
	{"default/sealedfinal", "", "", "completed 1/0/0"},

	// Secrets open.
	{"default/sealed", "06:55:00 #1", "1 completed", "enabled 2/0/0 next 02T07:55:00"},
	{"default/shared", "06:57:00 #1", "1 completed", "enabled 2/0/0 next 02T07:57:00"},

	// A name used again, and the other actions, whose time has not come.
	{"team/again", "06:50:00 #1", "1 completed", "enabled 1/0/0 next 02T07:50:00"},
	{"team/bus", "", "", "enabled 0/0/0 next 01T00:00:00"},
	{"team/nats", "", "", "enabled 0/0/0 next 01T00:00:00"},
	{"team/queue", "", "", "enabled 0/0/0 next 01T00:00:00"},
}
