//go:build linux

package chaos

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/explain"
)

// How [TestCluster] is run. The full form is what the project promises.
var (
	fullFlag  = flag.Bool("full", false, "run every fault of TestCluster, one after the other, with the whole load; allow nothing for what else the machine does")
	tableFlag = flag.String("table", "", "file that takes the results of TestCluster as JSON")
	everyFlag = flag.Int("each-second", 0, "one of so many jobs of TestCluster runs every second; 0: 40, or 10 without -full")
	skewFlag  = flag.Duration("skew", 0, "clocks of the first two schedulers of TestCluster: so much ahead, and behind; 0: five minutes, or none without -full")
	faultFlag = flag.String("faults", "", "faults of TestCluster to run, separated by commas; default: all of the form")
)

// load is what a cluster has to do while a fault happens.
type load struct {
	Jobs     int           `json:"jobs"`    // that run again and again
	Seconds  int           `json:"seconds"` // of these, one of so many runs every second, the others every twenty seconds
	OneShots int           `json:"oneShots"`
	Span     time.Duration `json:"span"` // in which all of it is due
}

// slowEvery is how far apart, in seconds, the runs of most jobs are.
const slowEvery = 20

func loadOf(full bool) load {
	l := load{Jobs: 200, Seconds: 10, OneShots: 500, Span: 20 * time.Second}
	if full {
		l = load{Jobs: 2_000, Seconds: 40, OneShots: 5_000, Span: time.Minute}
	}
	l.Seconds = cmp.Or(*everyFlag, l.Seconds)
	return l
}

// duties are all occurrences that are due from start on. Instants differ, so that there is no herd.
func (l load) duties(start time.Time) []duty {
	var all []duty
	for i := range l.Jobs {
		every := l.every(i)
		for at := l.first(i, start); at.Before(start.Add(l.Span)); at = at.Add(every) {
			all = append(all, due(fmt.Sprintf("default/job-%d", i), at, at))
		}
	}
	for i := range l.OneShots {
		at := l.once(i, start)
		all = append(all, due(fmt.Sprintf("default/once-%d", i), at, at))
	}
	return all
}

func (l load) every(i int) time.Duration {
	if i%l.Seconds == 0 {
		return time.Second
	}
	return slowEvery * time.Second
}

func (l load) first(i int, start time.Time) time.Time {
	every := l.every(i)
	return start.Add((every * time.Duration(i) / time.Duration(l.Jobs)).Truncate(time.Millisecond))
}

func (l load) once(i int, start time.Time) time.Time {
	return start.Add((l.Span * time.Duration(i) / time.Duration(l.OneShots)).Truncate(time.Millisecond))
}

// put publishes the jobs, and waits until all are stored. It returns when the first of them is due.
func (l load) put(ctx context.Context, t *testing.T, js jetstream.JetStream, url string) time.Time {
	t.Helper()
	n := l.Jobs + l.OneShots
	began := time.Now()
	publishSpecs(ctx, t, js, n/10, func(i int) (string, job) { return fmt.Sprintf("far-%d", i), newJob(url, began.Add(time.Hour)) })
	start := time.Now().Add(15*time.Since(began) + 5*time.Second).UTC().Truncate(time.Second)
	publishSpecs(ctx, t, js, l.Jobs, func(i int) (string, job) {
		first, every := l.first(i, start), l.every(i)
		j := newJob(url, first).every(int(every/time.Second), "second")
		j.Recurrence.Count = int((start.Add(l.Span).Sub(first) + every - 1) / every)
		return fmt.Sprintf("job-%d", i), j
	})
	publishSpecs(ctx, t, js, l.OneShots, func(i int) (string, job) { return fmt.Sprintf("once-%d", i), newJob(url, l.once(i, start)) })
	t.Logf("%d jobs and %d one-shots put in %s, due %s later", l.Jobs, l.OneShots, time.Since(began).Round(time.Millisecond),
		time.Until(start).Round(time.Millisecond))
	return start
}

// publishSpecs publishes n specs, and waits until all are taken in.
func publishSpecs(ctx context.Context, t *testing.T, js jetstream.JetStream, n int, spec func(i int) (string, job)) {
	t.Helper()
	for i := range n {
		name, j := spec(i)
		must.Get(js.PublishAsync("carillon.spec.put.default."+name, j.document(), jetstream.WithStallWait(patience)))(t)
	}
	select {
	case <-js.PublishAsyncComplete():
	case <-ctx.Done():
		t.Fatal("the specs were not stored in time")
	}
	await(ctx, t, "all specs are taken in", 2*patience, func() bool { return messages(ctx, js, specsStream) == 0 })
}

// cluster is a system under test: three NATS servers, three schedulers, and what they call.
type cluster struct {
	*trio

	schedulers [3]*process
	clocks     [3]clockFile     // of their hosts
	lives      map[string]int64 // of every scheduler that there was, by its region
	target     *sink
	js         jetstream.JetStream
	start      time.Time // when the first job is due
	load       load
	lost       leadership
	fault      fault
}

// newCluster starts a system, and puts the load.
func newCluster(ctx context.Context, t *testing.T, f fault, l load) *cluster {
	t.Helper()
	var dirs []string
	if f.dirs != nil {
		dirs = f.dirs(t)
	}
	c := &cluster{trio: newTrio(ctx, t, dirs...), target: newSink(t, nil), lives: map[string]int64{}, load: l, fault: f}
	for i := range c.schedulers {
		if *fullFlag || *skewFlag != 0 || f.clocks {
			c.clocks[i] = newClock(t, skewed(i))
		}
		c.serve(ctx, i)
	}
	for _, p := range c.schedulers {
		p.ready(ctx, t)
	}
	c.js = c.connect(ctx, t)
	await(ctx, t, "every stream has its copies", patience, func() bool { return whole(ctx, c.js) })
	c.start = l.put(ctx, t, c.js, c.target.url)
	return c
}

// serve starts a scheduler in the place of another one.
func (c *cluster) serve(ctx context.Context, i int) {
	c.t.Helper()
	region := fmt.Sprintf("serve-%d", len(c.lives)+1)
	c.lives[region] = int64(len(c.lives) + 1)
	c.schedulers[i] = c.serveWith(ctx, c.clocks[i], region)
}

// calls returns all calls so far, each with the process it came from.
func (c *cluster) calls() []call {
	all := c.target.seen()
	for i := range all {
		all[i].life = c.lives[all[i].region]
	}
	return all
}

// TestCluster breaks a cluster in one way after another while jobs run, and says how late they were. Its result is a table;
// see TESTING.md.
func TestCluster(t *testing.T) {
	ctx := limited(t)
	var table []row
	for _, f := range faults {
		if !f.wanted() {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			r := row{Fault: f.name, About: f.about, Load: loadOf(*fullFlag)}
			defer func() { table = append(table, r) }()
			if f.needs != nil {
				if r.Skipped = f.needs(t); r.Skipped != "" {
					t.Skip(r.Skipped)
				}
			}
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			r.run(ctx, t, f)
		})
	}
	t.Log("\n" + text(table))
	if *tableFlag != "" {
		write(t, *tableFlag, table)
	}
}

// wanted reports whether a fault belongs to what is run.
func (f fault) wanted() bool {
	if *faultFlag == "" {
		return *fullFlag || f.short
	}
	for name := range strings.SplitSeq(*faultFlag, ",") {
		if name == f.name {
			return true
		}
	}
	return false
}

// run lets a fault happen, waits until everything that was due has come, and fills the row.
func (r *row) run(ctx context.Context, t *testing.T, f fault) {
	rng := chance(t)
	still := watchStillness(t) //nolint:contextcheck // it ends with the test
	c := newCluster(ctx, t, f, r.Load)
	pause(ctx, time.Until(c.start.Add(r.Load.Span/5))+time.Duration(rng.Int64N(int64(time.Second))))
	began := time.Now()
	f.happen(ctx, c)
	healed := time.Now()
	duties := c.load.duties(c.start)
	await(ctx, t, "everything that was due has come", time.Until(c.start.Add(c.load.Span))+patience, func() bool {
		return c.target.distinct() >= len(duties)
	})
	records := follow(ctx, t, c.js)
	await(ctx, t, "every occurrence has a record", patience, func() bool { return records.occurrences() >= len(duties) })
	r.took(began, healed, c.lost.longest(t), still.sum())
	r.judge(ctx, t, c, duties, began, records)
	c.settled(ctx, t)
	c.accounted(ctx, t)
}

// accounted has a scheduler account for the jobs: every instant that was due has a record of its end.
func (c *cluster) accounted(ctx context.Context, t *testing.T) {
	t.Helper()
	var a *api
	for _, p := range c.schedulers {
		if e, ok := p.reach(); ok && p.running() {
			a = newAPI(t, e.HTTP)
		}
	}
	due, names := 0, make([]string, 0, c.load.Jobs+c.load.OneShots)
	for i := range c.load.Jobs {
		names = append(names, fmt.Sprintf("job-%d", i))
	}
	for i := range c.load.OneShots {
		names = append(names, fmt.Sprintf("once-%d", i))
	}
	for _, name := range names {
		var account explain.Account
		must.Do(t, a.do(ctx, http.MethodGet, jobPath(name)+"/account?from=-1h", nil, &account))
		due += account.Due
		if account.Lacking > 0 || len(account.Unknown) > 0 || account.Counts[explain.Pending] > 0 {
			t.Errorf("the account of %s: %+v", name, account)
		}
	}
	if want := len(c.load.duties(c.start)); due != want {
		t.Errorf("the accounts have %d instants, want %d", due, want)
	}
}

// settled checks that no baton is left but those of jobs that are due in an hour.
func (c *cluster) settled(ctx context.Context, t *testing.T) {
	t.Helper()
	far := (c.load.Jobs + c.load.OneShots) / 10
	var report control.AuditReport
	ended := within(ctx, patience, func() bool {
		for _, p := range c.schedulers {
			e, ok := p.reach()
			if !ok {
				continue
			}
			var err error
			if report, err = newAPI(t, e.HTTP).doctor(ctx); err == nil {
				return report.Waiting == far && report.Running == 0 && len(report.Findings) == 0
			}
		}
		return false
	})
	if !ended {
		t.Errorf("doctor: %d batons wait, %d run; want %d and none; findings %v", report.Waiting, report.Running, far, report.Findings)
	}
}

// leadership says how long lanes were without a leader after their node was lost.
type leadership struct {
	mu      sync.Mutex
	took    map[string]time.Duration // by lane
	watches sync.WaitGroup
}

// lane is what a running baton needs: a stream, and the consumer that gives it out. Each has a leader of its own.
var laneParts = []string{"$JS.API.STREAM.INFO.CARILLON_TIMERS_%d", "$JS.API.CONSUMER.INFO.CARILLON_TIMERS_%d.workers"}

// lose asks the other nodes, from now on, until each lane has leaders that are not the node.
func (l *leadership) lose(ctx context.Context, t *testing.T, c *trio, lost, lanes int) {
	t.Helper()
	l.took = map[string]time.Duration{}
	began := time.Now()
	other := must.Get(nats.Connect(c.nodes[(lost+1)%len(c.nodes)].url, nats.MaxReconnects(-1), nats.IgnoreDiscoveredServers()))(t)
	t.Cleanup(other.Close)
	for lane := range lanes {
		for _, part := range laneParts {
			subject := fmt.Sprintf(part, lane)
			l.watches.Go(func() {
				led := within(ctx, time.Minute, func() bool {
					leader := leaderOf(ctx, other, subject)
					return leader != "" && leader != c.nodes[lost].name
				})
				if led {
					l.mu.Lock()
					defer l.mu.Unlock()
					l.took[subject[len("$JS.API."):]] = time.Since(began)
				}
			})
		}
	}
}

// longest waits until all lanes have leaders, and returns how long that took.
func (l *leadership) longest(t *testing.T) (d time.Duration) {
	t.Helper()
	l.watches.Wait()
	for part, took := range l.took {
		t.Logf("%s: led elsewhere after %s", part, took.Round(time.Millisecond))
		d = max(d, took)
	}
	return d
}

// leaderOf returns who leads what a question is about; "" when nobody answers.
func leaderOf(ctx context.Context, nc *nats.Conn, subject string) string {
	ctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	m, err := nc.RequestWithContext(ctx, subject, nil)
	if err != nil {
		return ""
	}
	var answer struct {
		Cluster struct {
			Leader string `json:"leader"`
		} `json:"cluster"`
	}
	if json.Unmarshal(m.Data, &answer) != nil {
		return ""
	}
	return answer.Cluster.Leader
}
