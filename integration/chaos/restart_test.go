package chaos

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/freeport"
)

// TestServerRestart stops the NATS server below a scheduler and starts it again, in good order and by kill -9. The
// scheduler connects again by itself, and makes up for what was due meanwhile.
func TestServerRestart(t *testing.T) {
	t.Parallel()
	ctx := limited(t)
	still := watchStillness(t)
	rng := chance(t)
	target := newSink(t, nil)
	dir := t.TempDir()
	server := natsd(ctx, t, dir, freeport.Address(t))
	url := server.ready(ctx, t).NATS
	scheduler := serve(ctx, t, url, "only")
	a := newAPI(t, scheduler.ready(ctx, t).HTTP)

	start := time.Now().UTC().Truncate(time.Second).Add(2 * time.Second)
	jobs := map[string]job{}
	for i := range 20 {
		at := start.Add(time.Duration(i) * 20 * time.Millisecond)
		jobs[fmt.Sprintf("second-%d", i)] = newJob(target.url, at).every(1, "second")
		jobs[fmt.Sprintf("three-%d", i)] = newJob(target.url, at).every(3, "second")
	}
	a.putAll(ctx, t, jobs)
	js := jet(t, url)
	records := follow(ctx, t, js)
	await(ctx, t, "the first runs", patience, func() bool { return records.len() >= 2*len(jobs) })

	var healed time.Time
	for _, hard := range []bool{false, true} {
		pause(ctx, time.Duration(rng.Int64N(int64(time.Second))))
		down := time.Now()
		if hard {
			server.kill()
		} else {
			server.stop(ctx, t)
		}
		pause(ctx, time.Second+time.Duration(rng.Int64N(int64(2*time.Second))))
		server = natsd(ctx, t, dir, strings.TrimPrefix(url, "nats://"))
		server.ready(ctx, t)
		healed = time.Now()
		n := target.distinct()
		await(ctx, t, "calls after the restart", patience, func() bool { return target.distinct() > n+len(jobs) })
		t.Logf("kill -9: %t; the server was away for %s; the jobs ran again %s after it was back", hard,
			healed.Sub(down).Round(time.Millisecond), time.Since(healed).Round(time.Millisecond))
	}

	allowed := bound + still.sum()
	var duties []duty
	for name, j := range jobs {
		for at := range j.occurrences(healed.Add(calm)) {
			duties = append(duties, due("default/"+name, at, later(at, healed).Add(allowed)))
		}
	}
	await(ctx, t, "a record of everything that was due", patience, func() bool {
		for _, d := range duties {
			if !records.has(d.key) {
				return false
			}
		}
		return time.Now().After(healed.Add(calm))
	})
	calls := target.seen()
	v := judge(t, duties, calls)
	t.Logf("%d occurrences due, %d calls, latest %s, all within %s of the last start or of their instant; %d repeated",
		len(duties), v.runs, v.worst.Round(time.Millisecond), (allowed - v.spare).Round(time.Millisecond), v.duplicates)
	records.attempts(ctx, t, calls, one)
	report, err := a.doctor(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		t.Errorf("doctor: %s: %s", f.Name, f.Problem)
	}
}
