package chaos

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/freeport"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// The load of [TestRollingRestart], and what it allows.
const (
	crewSize     = 3
	slowCall     = 700 * time.Millisecond
	putEvery     = 25 * time.Millisecond // one-shots
	putAhead     = 3 * time.Second
	settledAfter = 700 * time.Millisecond // an exchange
	calmFor      = 2 * time.Second        // before the first exchange, and after the last
	lateMost     = time.Second            // because of an exchange
)

// rollingJobs are the kinds of jobs that run meanwhile, and how many there are of each. Those of three seconds wait in
// JetStream, the calls of slow ones last slowCall.
var rollingJobs = []struct {
	name    string
	n, few  int // see [size]
	every   int // seconds
	overlap string
}{
	{"second", 150, 50, 1, ""},
	{"third", 90, 30, 3, ""},
	{"allow", 30, 15, 1, "allow"},
	{"slow", 40, 20, 2, ""},
}

// TestRollingRestart exchanges three schedulers, one after the other, while they run hundreds of jobs a second and take new
// ones: first the new process starts before the old one ends, then in its place. Nobody notices: nothing is lost, repeated or
// late, and no request is refused by a scheduler that says it is ready.
func TestRollingRestart(t *testing.T) {
	ctx := limited(t)
	r := &rolling{t: t, still: watchStillness(t), once: map[string]time.Time{}}
	r.target = newSink(t, func(c call) int {
		if strings.HasPrefix(c.job, "default/slow") {
			pause(ctx, slowCall)
		}
		return 200
	})
	r.url = natsd(ctx, t, t.TempDir(), freeport.Address(t)).ready(ctx, t).NATS
	for i := range r.crew {
		r.begin(ctx, i)
	}
	r.register(ctx)
	stopPutting := r.putting(ctx)
	pause(ctx, time.Until(r.start.Add(calmFor)))
	r.changed = time.Now()
	r.exchange(ctx, true)
	r.exchange(ctx, false)
	settled := time.Now()
	pause(ctx, calmFor)
	stopPutting()
	r.judge(ctx, settled)
}

// rolling is a crew of schedulers that is exchanged.
type rolling struct {
	t       *testing.T
	url     string // of NATS
	target  *sink
	still   *stillness
	jobs    map[string]job
	start   time.Time // of the jobs
	changed time.Time // the first exchange began

	mu     sync.Mutex
	crew   [crewSize]member
	once   map[string]time.Time // one-shots that were put, and when they are due
	handed []string             // requests that another scheduler had to take
}

type member struct {
	*process

	api *api
}

// begin starts a scheduler, which then takes requests.
func (r *rolling) begin(ctx context.Context, i int) {
	r.t.Helper()
	p := serve(ctx, r.t, r.url, strconv.Itoa(i))
	m := member{p, newAPI(r.t, p.ready(ctx, r.t).HTTP)}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.crew[i] = m
}

// exchange exchanges all schedulers. The new one starts before the old one ends, or else takes its place.
func (r *rolling) exchange(ctx context.Context, before bool) {
	r.t.Helper()
	for i := range r.crew {
		old := r.crew[i]
		if before {
			r.begin(ctx, i)
		}
		stopped := time.Now()
		old.stop(ctx, r.t)
		r.t.Logf("%s ended within %s of SIGTERM", old.name, time.Since(stopped).Round(time.Millisecond))
		if !before {
			r.begin(ctx, i)
		}
		pause(ctx, settledAfter)
	}
}

// register puts the jobs that recur.
func (r *rolling) register(ctx context.Context) {
	r.t.Helper()
	start := time.Now().UTC().Truncate(time.Second).Add(2 * time.Second)
	r.start, r.jobs = start, map[string]job{}
	for _, kind := range rollingJobs {
		n := size(kind.n, kind.few)
		r.t.Logf("%d calls a second by jobs of kind %s", n/kind.every, kind.name)
		spread := time.Duration(kind.every) * time.Second / time.Duration(n)
		for i := range n {
			j := newJob(r.target.url, start.Add(time.Duration(i)*spread)).every(kind.every, "second")
			j.Overlap = kind.overlap
			name := fmt.Sprintf("%s-%d", kind.name, i)
			must.Do(r.t, r.crew[i%crewSize].api.put(ctx, name, j.document()))
			j.acked = time.Now()
			r.jobs[name] = j
		}
	}
}

// putting puts one-shots, a moment before they are due, until it is told to stop.
func (r *rolling) putting(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		tick := time.NewTicker(putEvery)
		defer tick.Stop()
		for n := 0; ; n++ {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
			done.Go(func() { r.putOnce(ctx, n) })
		}
	})
	return func() { cancel(); done.Wait() }
}

// putOnce puts a one-shot, and asks the next scheduler when one ends before it has answered, as a proxy before them does.
func (r *rolling) putOnce(ctx context.Context, n int) {
	at := time.Now().Add(putAhead).UTC().Truncate(time.Millisecond)
	name := fmt.Sprintf("once-%d", n)
	body := newJob(r.target.url, at).document()
	var err error
	for try := range crewSize {
		r.mu.Lock()
		m := r.crew[(n+try)%crewSize]
		r.mu.Unlock()
		if err = m.api.put(ctx, name, body); err == nil {
			r.mu.Lock()
			r.once[name] = at
			r.mu.Unlock()
			return
		}
		if ctx.Err() != nil {
			return // whether it is there is not known, and does not matter
		}
		r.mu.Lock()
		r.handed = append(r.handed, err.Error())
		r.mu.Unlock()
	}
	r.t.Errorf("%s: no scheduler takes it: %v", name, err)
}

// judge compares what was due with what came.
func (r *rolling) judge(ctx context.Context, settled time.Time) {
	t := r.t
	t.Helper()
	var worst time.Duration // while nothing was exchanged: what the machine makes of the load
	for _, c := range r.target.seen() {
		if c.at.Before(r.changed) {
			worst = max(worst, c.at.Sub(c.nominal))
		}
	}
	promised := lateMost + worst + r.still.sum()
	allowed := promised + crowded()
	var duties []duty
	for name, j := range r.jobs {
		for at := range j.occurrences(settled.Add(calmFor - promised)) {
			duties = append(duties, due("default/"+name, at, at.Add(allowed)))
		}
	}
	for name, at := range r.once {
		duties = append(duties, due("default/"+name, at, at.Add(allowed)))
	}
	records := follow(ctx, t, jet(t, r.url))
	await(ctx, t, "a record of everything that was due", patience, func() bool {
		for _, d := range duties {
			if !records.has(d.key) {
				return false
			}
		}
		return true
	})
	calls := r.target.seen()
	v := judge(t, duties, calls)
	if v.duplicates > 0 {
		t.Errorf("%d calls were repeated", v.duplicates)
	}
	records.attempts(ctx, t, calls, one)
	report, err := r.crew[0].api.doctor(ctx)
	if err != nil || len(report.Findings) > 0 {
		t.Errorf("doctor: %v, findings %v", err, report.Findings)
	}
	t.Logf("%d occurrences due, of which %d one-shots; %d calls, %d repeated; late at most %s, before the exchanges %s; %d requests handed on",
		len(duties), len(r.once), v.runs, v.duplicates, v.worst.Round(time.Millisecond),
		worst.Round(time.Millisecond), len(r.handed))
	for _, text := range r.handed[:min(len(r.handed), 5)] {
		t.Logf("handed on: %s", text)
	}
}
