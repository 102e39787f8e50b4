package chaos

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/integration/testkit/freeport"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/control"
)

// latest is how late the last occurrence of a herd may be when one of the processes that run it is killed, beside the time
// that running the herd takes, which is less than what putting it took. It is the time after which the server gives out
// again what a dead process held, and a moment to run it.
const latest = 20 * time.Second

// TestTwoReplicas kills one of two schedulers that share a NATS server in the middle of a herd. The other one runs what is
// left.
func TestTwoReplicas(t *testing.T) {
	t.Parallel()
	ctx := limited(t)
	still := watchStillness(t)
	rng := chance(t)
	n := size(10_000, 1_000)
	target := newSink(t, nil)
	url := natsd(ctx, t, t.TempDir(), freeport.Address(t)).ready(ctx, t).NATS
	replicas := []*process{serve(ctx, t, url, "first"), serve(ctx, t, url, "second")}
	apis := make([]*api, len(replicas))
	for i, p := range replicas {
		apis[i] = newAPI(t, p.ready(ctx, t).HTTP)
	}

	// A tenth of the jobs tells how long all of them take; they are put again with the others. Waiting is cheap, so there is
	// much to spare. On a machine that stalls even longer, the herd is due when the last job is put.
	began := time.Now()
	putAll(ctx, t, apis, n/10, newJob(target.url, began.Add(time.Hour)))
	at := time.Now().Add(30*time.Since(began) + 10*time.Second).UTC().Truncate(time.Millisecond)
	began = time.Now()
	putAll(ctx, t, apis, n, newJob(target.url, at))
	putting := time.Since(began)
	whole := time.Now()
	if whole.Before(at) {
		whole = at
	}
	t.Logf("%d one-shots put over both processes in %s, due %s later", n, putting.Round(time.Millisecond),
		time.Until(at).Round(time.Millisecond))

	await(ctx, t, "a fifth of the herd", time.Until(whole)+patience, func() bool { return target.distinct() >= n/5 })
	dead := rng.IntN(len(replicas))
	replicas[dead].kill()
	killed := time.Now()
	t.Logf("process %d killed %s after the instant, at %d calls", dead+1, killed.Sub(at).Round(time.Millisecond), target.distinct())
	js := jet(t, url)
	records := follow(ctx, t, js)
	await(ctx, t, "a record of every job", patience, func() bool { return records.occurrences() == n })

	calls := target.seen()
	duties := make([]duty, n)
	for i := range n {
		duties[i] = due("default/"+herdJob(i), at, whole.Add(latest+putting+still.sum()))
	}
	v := judge(t, duties, calls)
	repeated := 0
	regions := map[string]int{"first": 1, "second": 2}
	shares := map[int64]int{}
	for i := range calls {
		calls[i].life = int64(regions[calls[i].region])
		shares[calls[i].life]++
	}
	for _, n := range repeats(t, calls, func(string) bool { return false }) {
		repeated += n
	}
	records.attempts(ctx, t, calls, one)
	late := lateness(target, at)
	t.Logf("calls by process: %v; late p50 %s, p90 %s, p99 %s, last %s; %d repeated under an equal key (%.2f %%)", shares,
		percentile(late, 50), percentile(late, 90), percentile(late, 99), v.worst.Round(time.Millisecond), repeated,
		100*float64(repeated)/float64(n))

	var report control.AuditReport
	ended := within(ctx, patience, func() bool {
		var err error
		report, err = apis[1-dead].doctor(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return report.Waiting+report.Running+len(report.Findings) == 0
	})
	if !ended {
		t.Errorf("doctor: %d batons wait, %d run, %d findings", report.Waiting, report.Running, len(report.Findings))
		for _, f := range report.Findings[:min(5, len(report.Findings))] {
			t.Logf("%s: %s", f.Name, f.Problem)
		}
	}
	t.Logf("doctor: %d jobs, no baton left, no findings: %t", report.Jobs, ended)
	counted := 0
	for i := 0; i < n; i += 100 {
		st := must.Get(apis[1-dead].get(ctx, herdJob(i)))(t)
		if st.State != scheduler.Completed || st.Status.ExecutionCount != 1 {
			t.Errorf("%s: is %s after %d executions", herdJob(i), st.State, st.Status.ExecutionCount)
		}
		counted++
	}
	t.Logf("%d of them looked at: completed after one execution", counted)
}

func herdJob(i int) string { return fmt.Sprintf("herd-%d", i) }

// putAll puts n jobs of one document, spread over the processes.
func putAll(ctx context.Context, t *testing.T, apis []*api, n int, j job) {
	t.Helper()
	body := j.document()
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range registrars {
		g.Go(func() error {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if err := apis[i%len(apis)].put(ctx, herdJob(i), body); err != nil {
					return err
				}
			}
			return nil
		})
	}
	must.Do(t, g.Wait())
}

// lateness returns how late each key came first, in order.
func lateness(s *sink, at time.Time) []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	var late []time.Duration
	for _, came := range s.keys {
		late = append(late, came.Sub(at))
	}
	slices.Sort(late)
	return late
}

// percentile returns the value that p of 100 do not exceed.
func percentile(sorted []time.Duration, p int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	i := (len(sorted)*p + 99) / 100
	return sorted[min(max(i, 1), len(sorted))-1].Round(time.Millisecond)
}
