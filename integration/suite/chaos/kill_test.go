package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// The load and the faults of [TestKill9].
const (
	longestLife = 4 * time.Second // of a process, from its start
	bound       = 20 * time.Second
	calm        = 4 * time.Second // instants looked at after the faults
	onceEvery   = 80 * time.Millisecond
	overlapping = 4 // jobs of every second that may overlap themselves
)

// recurring are the jobs of TestKill9: those of every second go from worker to worker without a timer, those with longer
// intervals wait in JetStream. Their phases differ, so that they do not all run at once.
func recurring(url string, base time.Time) map[string]job {
	jobs := map[string]job{}
	kinds := []struct {
		name     string
		n, every int
		change   func(*job)
	}{
		{"second", 40, 1, func(*job) {}},
		{"allow", overlapping, 1, func(j *job) { j.Overlap = "allow" }},
		{"two", 8, 2, func(*job) {}},
		{"five", 8, 5, func(*job) {}},
		{"flaky", 4, 5, func(j *job) { j.Action.Request.URI += "/flaky" }},
	}
	i := 0
	for _, k := range kinds {
		for n := range k.n {
			j := newJob(url, base.Add(time.Duration(i)*15*time.Millisecond)).every(k.every, "second")
			k.change(&j)
			jobs[fmt.Sprintf("%s-%d", k.name, n)] = j
			i++
		}
	}
	return jobs
}

// TestKill9 kills a scheduler with everything in it again and again, at random moments and in the middle of calls, and
// starts it on the same directory. In the end everything that was due has happened.
func TestKill9(t *testing.T) {
	t.Parallel()
	ctx := limited(t)
	rng := chance(t)
	target := newSink(t, func(c call) int {
		if strings.HasPrefix(c.job, "default/flaky") && c.id.try == 1 {
			return http.StatusServiceUnavailable
		}
		return http.StatusOK
	})
	k := &killing{t: t, target: target, dir: t.TempDir(), still: watchStillness(t)}
	k.begin(ctx)
	registering := k.register(ctx, rand.New(rand.NewPCG(rng.Uint64(), 1)))
	random := k.random(ctx, rng, size(8, 3))
	aimed := k.aimed(ctx, rng, size(3, 1))
	e := k.current.Load().ready(ctx, t)
	healed := time.Now()
	ones := registering()
	t.Logf("%d kills, the last process was ready after %s", random+aimed, healed.Sub(k.current.Load().began).Round(time.Millisecond))

	duties := k.duties(healed)
	js := jet(t, e.NATS)
	records := follow(ctx, t, js)
	open := func() (names []string) {
		for _, d := range duties {
			if !records.has(d.key) {
				names = append(names, d.key)
			}
		}
		for name := range ones {
			if len(records.of("default/"+name)) == 0 {
				names = append(names, name)
			}
		}
		return names
	}
	settled := within(ctx, patience, func() bool { return time.Now().After(healed.Add(calm)) && len(open()) == 0 })
	if !settled {
		t.Errorf("after %s these have no record of a success: %s", patience, strings.Join(open(), " "))
	}
	duties = append(k.duties(healed), k.onces(healed, ones, records)...)
	t.Logf("everything had a record %s after the last start", time.Since(healed).Round(time.Millisecond))
	k.audit(ctx, newAPI(t, e.HTTP), js)
	k.rest(ctx, newAPI(t, e.HTTP), js)
	k.judge(ctx, duties, ones, records, newAPI(t, e.HTTP), int64(random))
}

// killing is the state of TestKill9.
type killing struct {
	t       *testing.T
	target  *sink
	dir     string
	still   *stillness
	jobs    map[string]job
	current atomic.Pointer[process]
}

// begin starts the first process, and puts the jobs.
func (k *killing) begin(ctx context.Context) {
	k.t.Helper()
	k.next(ctx)
	a := newAPI(k.t, k.current.Load().ready(ctx, k.t).HTTP)
	k.jobs = recurring(k.target.url, time.Now().UTC().Truncate(time.Second).Add(3*time.Second))
	a.putAll(ctx, k.t, k.jobs)
}

// next starts a process on the directory.
func (k *killing) next(ctx context.Context) {
	k.t.Helper()
	k.target.life.Add(1)
	k.current.Store(dev(ctx, k.t, k.dir))
}

// random kills n processes at moments that have nothing to do with what they are doing, sometimes before they are ready.
func (k *killing) random(ctx context.Context, rng *rand.Rand, n int) int {
	k.t.Helper()
	for range n {
		p := k.current.Load()
		life := time.Duration(rng.Int64N(int64(longestLife)))
		pause(ctx, time.Until(p.began.Add(life)))
		k.kill(ctx)
	}
	return n
}

// aimed kills n processes in the middle of a call: half of them while they wait for the answer, the others within two
// milliseconds of it, in which they record the attempt and pass the baton on.
func (k *killing) aimed(ctx context.Context, rng *rand.Rand, n int) int {
	k.t.Helper()
	for i := range n {
		k.current.Load().ready(ctx, k.t)
		pause(ctx, time.Duration(rng.Int64N(int64(time.Second))))
		came, answer := make(chan struct{}, 1), make(chan struct{})
		f := func(call) {
			select {
			case came <- struct{}{}:
			default:
			}
			<-answer
		}
		k.target.noted.Store(&f)
		select {
		case <-came:
		case <-ctx.Done():
		}
		k.target.noted.Store(nil)
		if i%2 == 0 {
			close(answer)
			pause(ctx, time.Duration(rng.Int64N(int64(2*time.Millisecond))))
			k.kill(ctx)
			continue
		}
		k.kill(ctx)
		close(answer)
	}
	return n
}

func (k *killing) kill(ctx context.Context) {
	k.t.Helper()
	p := k.current.Load()
	if !p.running() {
		k.t.Fatalf("%s ended by itself: %s\n%s", p.name, p.cmd.ProcessState, p.tail(4<<10))
	}
	p.kill()
	k.next(ctx)
}

// oneShot is a job that runs once, put while processes are killed.
type oneShot struct {
	start, acked time.Time
}

// register puts one-shots all the while, over HTTP and as published specs, until the returned function is called. A put
// that was not acknowledged is repeated. The function returns what was put.
func (k *killing) register(ctx context.Context, rng *rand.Rand) (stop func() map[string]oneShot) {
	ones := map[string]oneShot{}
	var mu sync.Mutex
	var done atomic.Bool
	var side sync.WaitGroup
	for _, how := range []struct {
		name string
		put  func(context.Context, endpoints, string, []byte) error
	}{{"http", k.putHTTP()}, {"spec", putSpec}} {
		rng := rand.New(rand.NewPCG(rng.Uint64(), 2))
		side.Go(func() {
			tick := time.NewTicker(onceEvery)
			defer tick.Stop()
			for n := 0; !done.Load() && ctx.Err() == nil; n++ {
				name := fmt.Sprintf("%s-%d", how.name, n)
				one := oneShot{start: time.Now().UTC().Add(time.Duration(rng.Int64N(int64(3*time.Second))) - time.Second/2)}
				body := newJob(k.target.url, one.start).document()
				for ctx.Err() == nil && k.try(ctx, how.put, name, body) != nil {
					pause(ctx, 5*time.Millisecond)
				}
				one.acked = time.Now()
				mu.Lock()
				ones[name] = one
				mu.Unlock()
				<-tick.C
			}
		})
	}
	return func() map[string]oneShot {
		done.Store(true)
		side.Wait()
		return ones
	}
}

func (k *killing) try(ctx context.Context, put func(context.Context, endpoints, string, []byte) error, name string, body []byte) error {
	e, ok := k.current.Load().reach()
	if !ok {
		return errNotReady
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return put(ctx, e, name, body)
}

func (k *killing) putHTTP() func(context.Context, endpoints, string, []byte) error {
	apis := map[string]*api{}
	return func(ctx context.Context, e endpoints, name string, body []byte) error {
		if apis[e.HTTP] == nil {
			apis[e.HTTP] = newAPI(k.t, e.HTTP)
		}
		return apis[e.HTTP].put(ctx, name, body)
	}
}

// putSpec publishes a spec with a connection of its own.
func putSpec(ctx context.Context, e endpoints, name string, body []byte) error {
	nc, err := nats.Connect(e.NATS, nats.MaxReconnects(0))
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	_, err = js.Publish(ctx, "carillon.spec.put.default."+name, body)
	return err
}

// duties lists what of the recurring jobs was due until a moment after the faults. What was due during the faults may run
// until they were over and what the dead processes held was given out again.
func (k *killing) duties(healed time.Time) []duty {
	var all []duty
	for name, j := range k.jobs {
		for at := range j.occurrences(healed.Add(calm)) {
			all = append(all, due("default/"+name, at, later(at, healed).Add(bound+k.still.sum())))
		}
	}
	return all
}

// onces lists the occurrences of one-shots. One whose time had passed when it was put is due at the moment of the put,
// which the history tells.
func (k *killing) onces(healed time.Time, ones map[string]oneShot, records *ledger) []duty {
	var all []duty
	for name, one := range ones {
		at := one.start
		if of := records.of("default/" + name); len(of) > 0 {
			at = of[0].Nominal
		}
		until := later(later(one.start, healed), one.acked).Add(bound + k.still.sum())
		if at.Before(one.start) || at.After(until) {
			k.t.Errorf("%s: the occurrence is %s, but it starts at %s and was put by %s", name, clock(at), clock(one.start), clock(one.acked))
		}
		all = append(all, due("default/"+name, at, until))
	}
	return all
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// audit looks for jobs without a baton and with more than one while everything runs. A baton that is being passed on may
// be seen twice, or between two places; that of a job in order is seen once at one time or another.
func (k *killing) audit(ctx context.Context, a *api, js jetstream.JetStream) {
	k.t.Helper()
	wrong := map[string]place{}
	for name := range k.jobs {
		wrong["default/"+name] = place{}
	}
	ok := within(ctx, patience, func() bool {
		places, _, err := batons(ctx, js)
		if err != nil {
			k.t.Fatal(err)
		}
		for name := range wrong {
			if wrong[name] = places[name]; places[name].waiting+places[name].running == 1 {
				delete(wrong, name)
			}
		}
		return len(wrong) == 0
	})
	for name, p := range wrong {
		k.t.Errorf("%s: %d batons wait and %d run", name, p.waiting, p.running)
	}
	var strays []string
	few := int((4*time.Second + crowded()).Seconds()) * overlapping // begin within this time
	if !within(ctx, patience, func() bool {
		_, strays, _ = batons(ctx, js)
		return len(strays) < few
	}) {
		k.t.Errorf("the one-offs of jobs that may overlap pile up: %d, want fewer than %d", len(strays), few)
	}
	report := must.Get(a.doctor(ctx))(k.t)
	for _, f := range report.Findings {
		k.t.Errorf("doctor: %s: %s", f.Name, f.Problem)
	}
	k.t.Logf("%d one-offs; doctor: %d jobs, %d batons wait, %d run, %d findings; all jobs seen with one baton: %t",
		len(strays), report.Jobs, report.Waiting, report.Running, len(report.Findings), ok)
}

// rest gives the recurring jobs a start in an hour, and waits until every one of them has exactly one baton, waiting, and
// nothing is left besides.
func (k *killing) rest(ctx context.Context, a *api, js jetstream.JetStream) {
	k.t.Helper()
	start := time.Now().Add(time.Hour).UTC()
	for name := range k.jobs {
		body := fmt.Sprintf(`{"startTime": %q, "recurrence": {"frequency": "hour"}}`, start.Format(time.RFC3339))
		must.Do(k.t, a.do(ctx, http.MethodPatch, jobPath(name), []byte(body), nil))
	}
	var places map[string]place
	var strays []string
	began := time.Now()
	still := within(ctx, patience, func() bool {
		var err error
		if places, strays, err = batons(ctx, js); err != nil {
			k.t.Fatal(err)
		}
		if len(places) != len(k.jobs) || len(strays) > 0 {
			return false
		}
		for _, p := range places {
			if p != (place{1, 0}) {
				return false
			}
		}
		return true
	})
	if still {
		k.t.Logf("at rest after %s, with one waiting baton for each job and nothing else", time.Since(began).Round(time.Millisecond))
		return
	}
	k.t.Errorf("%d jobs at rest have a baton, of %d; beside them there are %v", len(places), len(k.jobs), strays)
	for name, p := range places {
		if p != (place{1, 0}) {
			k.t.Errorf("%s: %d batons wait and %d run", name, p.waiting, p.running)
		}
	}
}

// judge compares what was called, recorded and counted with what was due.
func (k *killing) judge(ctx context.Context, duties []duty, ones map[string]oneShot, records *ledger, a *api, random int64) {
	t := k.t
	t.Helper()
	calls := k.target.seen()
	v := judge(t, duties, calls)
	overlaps := func(job string) bool { return strings.HasPrefix(job, "default/allow") }
	left := repeats(t, calls, overlaps)
	var byChance, byAim int
	for life, n := range left {
		if life <= random {
			byChance += n
		} else {
			byAim += n
		}
	}
	t.Logf("%d occurrences due, %d calls, latest %s, all within %s of the last start or of their instant; repeated under an equal key: %d after kills at random moments (%.2f %% of the calls; 0.1 %% is the promise), %d after kills in the middle of calls",
		len(duties), v.runs, v.worst.Round(time.Millisecond), (bound + k.still.sum() - v.spare).Round(time.Millisecond), byChance, 100*float64(byChance)/float64(v.runs), byAim)

	counts := records.attempts(ctx, t, calls, one)
	for name := range k.jobs {
		st := must.Get(a.get(ctx, name))(t)
		if got, want := st.Status.ExecutionCount, counts["default/"+name]; got != want {
			t.Errorf("%s: counts %d executions, the history has %d", name, got, want)
			for _, r := range records.of("default/" + name) {
				t.Logf("%s %s %s: kind %d, %d executions before, merged %v", clock(r.Stored), r.Outcome, r.ID, r.Kind, r.Progress.Executions, r.Progress.Merged)
			}
		}
		if st.State != scheduler.Enabled {
			t.Errorf("%s: is %s", name, st.State)
		}
	}
	for name := range ones {
		st := must.Get(a.get(ctx, name))(t)
		if st.State != scheduler.Completed || st.Status.ExecutionCount != 1 {
			t.Errorf("%s: is %s after %d executions", name, st.State, st.Status.ExecutionCount)
		}
	}
	for _, name := range []string{"second-0", "allow-0", "flaky-0"} {
		ids := must.Get(a.history(ctx, name, 10))(t)
		if len(ids) != counts["default/"+name] {
			t.Errorf("%s: %d attempts over REST, page by page, and %d in the stream", name, len(ids), counts["default/"+name])
		}
	}
}
