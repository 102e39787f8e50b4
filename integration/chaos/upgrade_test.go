package chaos

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/freeport"
)

var roundsFlag = flag.Int("rounds", 1, "how often TestRollingUpgrade goes there and back")

// The load of [TestRollingUpgrade], and what it allows.
const (
	crewSize     = 3
	eachSecond   = 150 // jobs: as many calls a second
	eachThird    = 90  // jobs of every three seconds, which wait in JetStream
	overlapping  = 30  // jobs of every second that may overlap themselves
	slowJobs     = 40  // of every two seconds, whose calls last slowCall
	slowCall     = 700 * time.Millisecond
	putEvery     = 25 * time.Millisecond // one-shots
	putAhead     = 3 * time.Second
	settledAfter = 700 * time.Millisecond // an exchange
	calmFor      = 2 * time.Second        // before the first exchange, and after the last
	lateMost     = time.Second            // because of an exchange
)

// TestRollingUpgrade exchanges three schedulers of the revision before this one for this one's, one after the other, while
// they run hundreds of jobs a second and take new ones, and back again. Nobody notices: nothing is lost, repeated or late,
// each version reads what the other has written, and no request is refused by a scheduler that says it is ready.
func TestRollingUpgrade(t *testing.T) {
	ctx := limited(t)
	from := earlier(ctx, t)
	u := &upgrade{
		t: t, old: from.build(ctx, t), current: program(t, "carillon"), still: watchStillness(t), once: map[string]time.Time{},
	}
	u.target = newSink(t, func(c call) int {
		if strings.HasPrefix(c.job, "default/slow") {
			pause(ctx, slowCall)
		}
		return 200
	})
	u.url = natsd(ctx, t, t.TempDir(), freeport.Address(t)).ready(ctx, t).NATS
	u.js = jet(t, u.url)
	for i := range u.crew {
		u.begin(ctx, i, u.old)
	}
	t.Logf("from revision %s: %d calls a second, and %d one-shots", from.commit[:8],
		eachSecond+eachThird/3+overlapping+slowJobs/2, time.Second/putEvery)
	form := u.form(ctx)
	u.register(ctx)
	u.write(ctx, "old")
	stopPutting := u.putting(ctx)
	pause(ctx, time.Until(u.start.Add(calmFor)))
	u.changed = time.Now()
	for round := range *roundsFlag {
		u.exchange(ctx, u.current, true)
		u.read(ctx, "old")
		u.write(ctx, fmt.Sprintf("new%d", round))
		if u.form(ctx) != form {
			u.refused(ctx)
			break
		}
		u.exchange(ctx, u.old, false)
		u.read(ctx, "old", fmt.Sprintf("new%d", round))
	}
	settled := time.Now()
	pause(ctx, calmFor)
	stopPutting()
	u.judge(ctx, settled)
}

// upgrade is a crew of schedulers that is exchanged.
type upgrade struct {
	t            *testing.T
	old, current string // files
	url          string // of NATS
	js           jetstream.JetStream
	target       *sink
	still        *stillness
	jobs         map[string]job
	start        time.Time // of the jobs
	changed      time.Time // the first exchange began

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
func (u *upgrade) begin(ctx context.Context, i int, file string) {
	u.t.Helper()
	p := serveFile(ctx, u.t, file, u.url, strconv.Itoa(i))
	m := member{p, newAPI(u.t, p.ready(ctx, u.t).HTTP)}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.crew[i] = m
}

// exchange exchanges all schedulers. The new one starts before the old one ends, or else takes its place.
func (u *upgrade) exchange(ctx context.Context, file string, before bool) {
	u.t.Helper()
	for i := range u.crew {
		old := u.crew[i]
		if before {
			u.begin(ctx, i, file)
		}
		stopped := time.Now()
		old.stop(ctx, u.t)
		u.t.Logf("%s ended within %s of SIGTERM", old.name, time.Since(stopped).Round(time.Millisecond))
		if !before {
			u.begin(ctx, i, file)
		}
		pause(ctx, settledAfter)
	}
}

// register puts the jobs that recur.
func (u *upgrade) register(ctx context.Context) {
	u.t.Helper()
	start := time.Now().UTC().Truncate(time.Second).Add(2 * time.Second)
	u.start, u.jobs = start, map[string]job{}
	for _, kind := range []struct {
		name     string
		n, every int
		change   func(*job)
	}{
		{"second", eachSecond, 1, func(*job) {}},
		{"third", eachThird, 3, func(*job) {}},
		{"allow", overlapping, 1, func(j *job) { j.Overlap = "allow" }},
		{"slow", slowJobs, 2, func(*job) {}},
	} {
		spread := time.Duration(kind.every) * time.Second / time.Duration(kind.n)
		for i := range kind.n {
			j := newJob(u.target.url, start.Add(time.Duration(i)*spread)).every(kind.every, "second")
			kind.change(&j)
			name := fmt.Sprintf("%s-%d", kind.name, i)
			if err := u.crew[i%crewSize].api.put(ctx, name, j.document()); err != nil {
				u.t.Fatal(err)
			}
			j.acked = time.Now()
			u.jobs[name] = j
		}
	}
}

// putting puts one-shots, a moment before they are due, until it is told to stop.
func (u *upgrade) putting(ctx context.Context) (stop func()) {
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
			done.Go(func() { u.putOnce(ctx, n) })
		}
	})
	return func() { cancel(); done.Wait() }
}

// putOnce puts a one-shot, and asks the next scheduler when one ends before it has answered, as a proxy before them does.
func (u *upgrade) putOnce(ctx context.Context, n int) {
	at := time.Now().Add(putAhead).UTC().Truncate(time.Millisecond)
	name := fmt.Sprintf("once-%d", n)
	body := newJob(u.target.url, at).document()
	var err error
	for try := range crewSize {
		u.mu.Lock()
		m := u.crew[(n+try)%crewSize]
		u.mu.Unlock()
		if err = m.api.put(ctx, name, body); err == nil {
			u.mu.Lock()
			u.once[name] = at
			u.mu.Unlock()
			return
		}
		if ctx.Err() != nil {
			return // whether it is there is not known, and does not matter
		}
		u.mu.Lock()
		u.handed = append(u.handed, err.Error())
		u.mu.Unlock()
	}
	u.t.Errorf("%s: no scheduler takes it: %v", name, err)
}

// written is a job that one version writes and another one reads.
func (u *upgrade) written(name string) job {
	j := newJob(u.target.url, time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)).every(2, "day")
	j.Recurrence.Count = 7
	j.Action.Request.Body = name
	return j
}

func (u *upgrade) write(ctx context.Context, by string) {
	u.t.Helper()
	for i := range crewSize {
		name := fmt.Sprintf("%s-%d", by, i)
		if err := u.crew[i].api.put(ctx, name, u.written(name).document()); err != nil {
			u.t.Errorf("%s: %v", name, err)
		}
	}
}

// read has each scheduler show jobs as they were written, and their next run.
func (u *upgrade) read(ctx context.Context, by ...string) {
	u.t.Helper()
	for _, by := range by {
		for i := range crewSize {
			name := fmt.Sprintf("%s-%d", by, i)
			for k := range u.crew {
				var got struct {
					Properties struct {
						job

						Status struct{ NextExecutionTime time.Time } `json:"status"`
					} `json:"properties"`
				}
				err := u.crew[k].api.do(ctx, "GET", jobPath(name), nil, &got)
				want := u.written(name)
				p := got.Properties
				if err != nil || p.Action.Request.Body != name || p.Recurrence == nil || *p.Recurrence != *want.Recurrence ||
					!p.Status.NextExecutionTime.Equal(*want.StartTime) {
					u.t.Errorf("%s shows %s as %+v: %v", u.crew[k].name, name, p, err)
				}
			}
		}
	}
}

// form is the number of the form in which the store is written.
func (u *upgrade) form(ctx context.Context) string {
	u.t.Helper()
	settings, err := u.js.KeyValue(ctx, "carillon-settings")
	if err != nil {
		u.t.Fatal(err)
	}
	e, err := settings.Get(ctx, "schema")
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return ""
	}
	if err != nil {
		u.t.Fatal(err)
	}
	return string(e.Value())
}

// refused makes sure that the older version does not start on what it cannot read, and says so.
func (u *upgrade) refused(ctx context.Context) {
	u.t.Helper()
	p := serveFile(ctx, u.t, u.old, u.url, "old")
	p.asked.Store(true) // it is to end by itself
	await(ctx, u.t, "the older version ends", patience, func() bool { return !p.running() })
	if said := string(p.tail(4 << 10)); !strings.Contains(said, "a later version of Carillon has written it") {
		u.t.Errorf("it says: %s", said)
	}
	u.t.Log("there is no way back: the form of the store is another one, which the older version refuses")
}

// judge compares what was due with what came.
func (u *upgrade) judge(ctx context.Context, settled time.Time) {
	t := u.t
	t.Helper()
	var worst time.Duration // while nothing was exchanged: what the machine makes of the load
	for _, c := range u.target.seen() {
		if c.at.Before(u.changed) {
			worst = max(worst, c.at.Sub(c.nominal))
		}
	}
	promised := lateMost + worst + u.still.sum()
	allowed := promised + crowded()
	var duties []duty
	for name, j := range u.jobs {
		for at := range j.occurrences(settled.Add(calmFor - promised)) {
			duties = append(duties, due("default/"+name, at, at.Add(allowed)))
		}
	}
	for name, at := range u.once {
		duties = append(duties, due("default/"+name, at, at.Add(allowed)))
	}
	records := follow(ctx, t, u.js)
	await(ctx, t, "a record of everything that was due", patience, func() bool {
		for _, d := range duties {
			if !records.has(d.key) {
				return false
			}
		}
		return true
	})
	calls := u.target.seen()
	v := judge(t, duties, calls)
	if v.duplicates > 0 {
		t.Errorf("%d calls were repeated", v.duplicates)
	}
	records.attempts(t, calls, one)
	report, err := u.crew[0].api.doctor(ctx)
	if err != nil || len(report.Findings) > 0 {
		t.Errorf("doctor: %v, findings %v", err, report.Findings)
	}
	t.Logf("%d occurrences due, of which %d one-shots; %d calls, %d repeated; late at most %s, before the exchanges %s; %d requests handed on",
		len(duties), len(u.once), v.runs, v.duplicates, v.worst.Round(time.Millisecond),
		worst.Round(time.Millisecond), len(u.handed))
	for _, text := range u.handed[:min(len(u.handed), 5)] {
		t.Logf("handed on: %s", text)
	}
}
