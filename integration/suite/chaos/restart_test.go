package chaos

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/freeport"
	"github.com/carillon-sched/carillon/integration/testkit/must"
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
	report := must.Get(a.doctor(ctx))(t)
	for _, f := range report.Findings {
		t.Errorf("doctor: %s: %s", f.Name, f.Problem)
	}
}

// TestReadyzTells takes the servers of a cluster away, in several ways: /readyz says each time what it is that is waited for.
func TestReadyzTells(t *testing.T) {
	t.Parallel()
	ctx := limited(t)
	c := newTrio(ctx, t)
	a := newAPI(t, c.serveAt(ctx, "only").ready(ctx, t).HTTP)
	a.client.Timeout = 10 * time.Second
	js := c.connect(ctx, t)
	await(ctx, t, "every stream has its copies", patience, func() bool { return whole(ctx, js) })
	said := ""
	ready := func(words ...string) func() bool {
		return func() bool {
			err := a.do(ctx, "GET", "/readyz", nil, nil)
			said = fmt.Sprint(err)
			for _, word := range words {
				if err == nil || !strings.Contains(said, word) {
					return false
				}
			}
			return err == nil || len(words) > 0
		}
	}
	expect := func(what string, words ...string) {
		t.Helper()
		began := time.Now()
		if !within(ctx, patience, ready(words...)) {
			t.Fatalf("%s: it says %s, and not %q", what, said, words)
		}
		t.Logf("%s: within %s: %s", what, time.Since(began).Round(100*time.Millisecond), said)
	}
	expect("all is well")
	c.kill(0)
	c.kill(1)
	expect("two servers are killed", "has no leader: half of", "start the NATS servers that are away")
	c.kill(2)
	expect("all are killed", "not connected to NATS at ", c.nodes[0].url, c.nodes[2].url, " since ", "connection refused")
	for i := range c.nodes {
		c.start(ctx, i)
	}
	expect("all are back")
	for _, n := range c.nodes {
		n.process.signal(syscall.SIGSTOP)
	}
	expect("all hang", "NATS at ", " since ", "hangs") // the scheduler may have left the server for another by then
	if err := a.put(ctx, "one", newJob("http://127.0.0.1:1", time.Now().Add(time.Hour)).document()); err == nil ||
		!strings.Contains(err.Error(), "NATS at ") || strings.Contains(err.Error(), "deadline") {
		t.Errorf("a request is refused with %v", err)
	}
	for _, n := range c.nodes {
		n.process.signal(syscall.SIGCONT)
	}
	expect("all go on")
	await(context.WithoutCancel(ctx), t, "it takes jobs", patience, func() bool {
		return a.put(ctx, "one", newJob("http://127.0.0.1:1", time.Now().Add(time.Hour)).document()) == nil
	})
}
