//go:build linux

package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// row is what came of a fault. Times are in seconds.
type row struct {
	Fault   string `json:"fault"`
	About   string `json:"about"`
	Load    load   `json:"load"`
	Skipped string `json:"skipped,omitempty"` // why

	Due        int     `json:"due"`
	Lost       int     `json:"lost"`
	Early      int     `json:"early"`
	Repeated   int     `json:"repeated"`   // calls with the key of an earlier one
	Lasted     float64 `json:"lasted"`     // the fault
	Leaderless float64 `json:"leaderless"` // the longest that a lane had none, from the fault on
	Still      float64 `json:"still"`      // in which the machine stood still
	Recovered  float64 `json:"recovered"`  // from the fault to the last call that was more than a second late

	Before spread            `json:"before"` // of what was due before the fault
	During spread            `json:"during"` // of what was due from the fault on
	Kinds  map[string]spread `json:"kinds"`  // of these, by kind
}

// spread is how late first calls came.
type spread struct {
	N   int     `json:"n"`
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

func spreadOf(late []time.Duration) spread {
	slices.Sort(late)
	return spread{
		N: len(late), P50: percentile(late, 50).Seconds(), P99: percentile(late, 99).Seconds(), Max: percentile(late, 100).Seconds(),
	}
}

func (r *row) took(began, healed time.Time, leaderless, still time.Duration) {
	r.Lasted = seconds(healed.Sub(began))
	r.Leaderless, r.Still = seconds(leaderless), seconds(still)
}

func seconds(d time.Duration) float64 { return d.Round(time.Millisecond).Seconds() }

// inFlight is how many attempts a scheduler has at most that run, or have run and have no record yet.
const inFlight = 256

// leaderBound is how late an occurrence may be when a leader is lost. Those of every second are as late as the servers of
// the cluster are in choosing another one: up to nine seconds, and what that does to the consumers.
const leaderBound = 5 * time.Second

// afterElection is how long after NATS has a leader again an occurrence may start, without -full. Where other tests run at the
// same time, NATS may need several elections, and more time than the other bounds allow.
const afterElection = 2 * time.Second

// failoverBound is how late an occurrence may be when a leader and a scheduler are lost together.
const failoverBound = 8 * time.Second

// everySecond is the kind of jobs whose batons never wait.
const everySecond = "every 1s"

// judge compares what was called with what was due.
func (r *row) judge(ctx context.Context, t *testing.T, c *cluster, duties []duty, began time.Time, records *ledger) {
	t.Helper()
	calls := c.calls()
	first := map[string]time.Time{}
	for _, call := range calls {
		if at, ok := first[call.id.key]; !ok || call.at.Before(at) {
			first[call.id.key] = call.at
		}
		if call.at.Before(call.nominal) {
			r.Early++
			t.Errorf("%s was called %s before it was due", call.id, call.nominal.Sub(call.at))
		}
	}
	r.Due = len(duties)
	var before, during []time.Duration
	kinds := map[string][]time.Duration{}
	for _, d := range duties {
		at, ok := first[d.key]
		if !ok {
			r.Lost++
			t.Errorf("%s was lost", d.key)
			continue
		}
		late := at.Sub(d.window.from)
		if at.Before(began) {
			before = append(before, late)
			continue
		}
		during = append(during, late)
		kinds[c.kind(d)] = append(kinds[c.kind(d)], late)
		if late > time.Second {
			r.Recovered = max(r.Recovered, seconds(at.Sub(began)))
		}
		delete(first, d.key)
	}
	r.Before, r.During, r.Kinds = spreadOf(before), spreadOf(during), map[string]spread{}
	for kind, late := range kinds {
		r.Kinds[kind] = spreadOf(late)
		allowed := (c.fault.bound + crowded()).Seconds() + r.Still
		if !*fullFlag {
			allowed = max(allowed, r.Leaderless+afterElection.Seconds()+r.Still)
		}
		if worst := r.Kinds[kind].Max; c.fault.bound > 0 && kind != everySecond && worst > allowed {
			t.Errorf("%s: %.3f s late, which may be %.1f s", kind, worst, allowed)
		}
	}
	r.Repeated = repeated(t, calls)
	most := oneEach
	if c.fault.strict {
		repeats(t, calls, func(string) bool { return false })
		most = one
	}
	if r.Repeated > inFlight*len(c.schedulers) {
		t.Errorf("%d calls were repeated; %d attempts may be without a record", r.Repeated, inFlight*len(c.schedulers))
	}
	records.attempts(ctx, t, calls, most)
	t.Logf("%+v", *r)
}

// repeated counts the calls that repeat an attempt, and logs a few.
func repeated(t *testing.T, calls []call) (n int) {
	t.Helper()
	seen := map[attemptID]call{}
	for _, c := range calls {
		before, again := seen[c.id]
		if !again {
			seen[c.id] = c
			continue
		}
		n++
		if n <= few {
			t.Logf("%s was called at %s by %s and at %s by %s", c.id, clock(before.at), before.region, clock(c.at), c.region)
		}
	}
	return n
}

// few is how many of what is alike the log has.
const few = 10

// kind tells jobs of every second, whose batons go from worker to worker, from those that wait for their time.
func (c *cluster) kind(d duty) string {
	var i int
	if _, err := fmt.Sscanf(d.job, "default/job-%d", &i); err != nil {
		return "once"
	}
	return fmt.Sprintf("every %s", c.load.every(i))
}

// isLane reports whether a stream is that of a lane.
func isLane(stream string) bool { return strings.HasPrefix(stream, "CARILLON_TIMERS_") }

// text is the table to read.
func text(table []row) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "fault\tdue\tlost\tearly\trepeated\tbefore p99\tp50\tp99\tmax\tof those that wait\tleaderless\trecovered\t")
	for _, r := range table {
		if r.Skipped != "" {
			fmt.Fprintf(w, "%s\tskipped: %s\t\n", r.Fault, r.Skipped)
			continue
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.1f\t%.1f\t\n", r.Fault, r.Due, r.Lost, r.Early, r.Repeated,
			r.Before.P99, r.During.P50, r.During.P99, r.During.Max, r.waiting(), r.Leaderless, r.Recovered)
	}
	_ = w.Flush()
	return b.String()
}

// waiting is how late the latest job was of those whose batons wait for their time.
func (r *row) waiting() (worst float64) {
	for kind, late := range r.Kinds {
		if kind != everySecond {
			worst = max(worst, late.Max)
		}
	}
	return worst
}

// write stores the table as JSON.
func write(t *testing.T, file string, table []row) {
	t.Helper()
	data := must.Get(json.MarshalIndent(table, "", "  "))(t)
	must.Do(t, os.WriteFile(file, append(data, '\n'), 0o644))
}
