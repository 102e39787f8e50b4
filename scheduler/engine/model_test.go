package engine_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/internal/climb"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/storetest"
)

var (
	modelSeed = flag.Uint64("model.seed", 0, "repeat the lives of jobs that TestModel drew from this seed")
	modelFrom = flag.Uint64("model.from", 1, "the first of the seeds that TestModel draws lives of jobs from, one after the other; 0: any")
)

// modelFound are seeds of lives in which something was wrong once.
var modelFound = []uint64{
	7695340391346137524,  // a pass without an answer was repeated after all that followed had ended
	1820468276866502854,  // the run that followed ended between two looks at whether there was one; depends on who is first
	6998764117660968640,  // a baton without what was counted in after it was the last word on a job that was disabled
	9545287543644811340,  // an edit went on from a record whose answer was lost, and the worker after it
	1860475239470359681,  // the baton that a disabled job had kept knew what was counted in, and was cancelled
	4293868018689983977,  // a job that was enabled, and lost its baton, forgot what had run by hand while it was disabled
	14447001257779798614, // two audits fired what was missing, one after the other had run; depends on who is first
	// from here on of modelKinds
	52,   // an instant that was due during a manual run had no record once the job was disabled
	1022, // a job whose first baton was never armed was disabled, and its instant had no record
	3071, // the same job was edited
	597,  // an edit that was interrupted had recorded what was skipped, and the next run recorded it again
	5721, // a run that had missed its time ran a later one; its process died, and the next one ran the latest by then
	1564, // a job of a closed collection got a schedule and was disabled, and what was due in between had no record
	1518, // the last time of a schedule ran beside later ones, after an edit had replaced the schedule
	1148, // a retry was canceled, its process died after it had recorded that, and the next one recorded it again
}

// foundBefore are the seeds of modelFound that were drawn from foundKinds.
const foundBefore = 7

// modelLives are the lives that TestModel draws at least.
const modelLives = 5

// TestModel draws random lives of jobs: two processes put, edit, pause, disable, enable, run, cancel, resubmit and delete them, and
// disable their collection. Writes fail, get lost or lose their answers, and processes die between any two of them. Once nothing is
// pending:
//   - no run was early, and none was repeated except after the death of a process, and under the same key;
//   - the history alone accounts for every instant that was due: each has exactly one final record;
//   - calls and records match, one for one; counters, lists and views agree with the history;
//   - the consistency check finds nothing.
//
// It lives the same lives every time. CARILLON_FUZZ_TIME=10m continues for ten minutes, with -model.from=0 by new seeds.
// -model.seed repeats one.
func TestModel(t *testing.T) {
	if *modelSeed != 0 {
		live(t, *modelSeed, drawMoves(*modelSeed), true)
		return
	}
	span, asked := climb.Span(t)
	if !asked {
		span = 0
	}
	end := time.Now().Add(span)
	lives := 0
	for ; lives < len(modelFound)+modelLives || time.Now().Before(end); lives++ {
		seed := *modelFrom + uint64(lives) // the same ones every time: what is tested is not left to chance
		switch {
		case lives < len(modelFound):
			seed = modelFound[lives]
		case *modelFrom == 0:
			seed = rand.Uint64()
		}
		moves := drawMoves(seed)
		if wrong := live(t, seed, moves, false); len(wrong) > 0 {
			t.Errorf("-model.seed=%d\n%s\n%s", seed, strings.Join(wrong, "\n"), said(shrink(t, seed, moves)))
			return
		}
	}
	t.Logf("%d lives", lives)
}

// move is one thing that happens, and how long the next one has to wait.
type move struct {
	what    string
	process int
	job     int
	doc     int
	fault   fault
	wait    time.Duration
	beside  bool // the next one does not wait for its end
}

func (m move) String() string {
	s := m.what
	switch m.what {
	case "strike":
		s = fmt.Sprintf("process %d %s the write after %d others", m.process, m.fault.how, m.fault.after)
	case "kill", "reconnect":
		s = fmt.Sprintf("%s process %d", m.what, m.process)
	case "wait":
	case "put":
		s = fmt.Sprintf("put job%d %s by %d", m.job, modelDocs[m.doc], m.process)
	default:
		s = fmt.Sprintf("%s job%d by %d", m.what, m.job, m.process)
	}
	if m.beside {
		s += ", beside what follows"
	}
	return s + ", then wait " + m.wait.String()
}

func said(moves []move) string {
	lines := make([]string, len(moves))
	for i, m := range moves {
		lines[i] = m.String()
	}
	return strings.Join(lines, "\n")
}

const modelJobs = 3

// modelDocs are the jobs that are put. START is an instant soon after.
var modelDocs = []string{
	`{ACTION}`,
	`{ACTION, "startTime": "START"}`,
	`{FLAKY}`,
	`{ACTION, "recurrence": {"frequency": "Second", "count": 4}}`,
	`{FLAKY, "startTime": "START", "recurrence": {"frequency": "Second", "interval": 3, "count": 6}}`,
	`{SLOW, "recurrence": {"frequency": "Second", "interval": 2, "count": 5}}`,
	`{ACTION, "startTime": "START", "recurrence": {"frequency": "Second", "interval": 7}}`,
	`{ACTION, "recurrence": {"frequency": "Second", "interval": 20, "count": 4}}`,
	`{SLOW, "overlap": "allow", "recurrence": {"frequency": "Second", "interval": 2, "count": 5}}`,
	`{FLAKY, "overlap": "allow", "recurrence": {"frequency": "Second", "interval": 5}}`,
	`{ACTION, "recurrence": {"frequency": "Minute"}}`,
	`{ONCE, "recurrence": {"frequency": "Second", "interval": 3}}`,
	`{LATEST, "jitter": "PT3S", "recurrence": {"frequency": "Second", "interval": 6}}`,
	`{FALLBACK, "startTime": "START", "recurrence": {"frequency": "Second", "interval": 4}}`,
	`{ONCE, "recurrence": {"frequency": "Second"}}`,
	`{ACTION, "recurrence": {"cron": "@recur 1 min"}}`,
	`{SLOW, "recurrence": {"frequency": "Second", "interval": 2, "count": 6, "anchor": "lastExecution"}}`,
	`{FLAKY, "startTime": "START", "recurrence": {"frequency": "Second", "interval": 3, "anchor": "lastExecution"}}`,
}

// The documents and the kinds of moves that the seeds of modelFound were drawn from.
const (
	foundDocs  = 11 // by the first of them
	laterDocs  = 15 // by the others
	foundKinds = "put put put put put patch patch disable enable enable delete run run strike strike strike strike kill reconnect wait"
	modelKinds = foundKinds + " put patch disable enable pause pause run cancel cancel resubmit close open strike kill"
)

// modelDoc is one of them, with an action that is told apart by n.
func modelDoc(doc, n int) string {
	action := func(host, policy, more string) string {
		return fmt.Sprintf(`"catchUp": {"policy": %q}, "action": {"type": "Http", "request": {"uri": "http://%s.example/%d", "method": "POST"},
			"retryPolicy": {"retryInterval": "PT2S", "retryCount": 2}%s}`, policy, host, n, more)
	}
	fallback := `, "errorAction": {"type": "Http", "request": {"uri": "http://flaky.example/fallback", "method": "POST"}}`
	return strings.NewReplacer(
		"ACTION", action("fine", "all", ""), "FLAKY", action("flaky", "all", ""), "SLOW", action("slow", "all", ""),
		"ONCE", action("slow", "skip", ""), "LATEST", action("flaky", "once", ""), "FALLBACK", action("flaky", "all", fallback),
		"START", time.Now().UTC().Add(1500*time.Millisecond).Format(time.RFC3339Nano),
	).Replace(modelDocs[doc])
}

// drawMoves draws what happens.
func drawMoves(seed uint64) []move {
	r := rand.New(rand.NewPCG(seed, 1))
	kinds, docs := strings.Fields(modelKinds), len(modelDocs)
	switch i := slices.Index(modelFound, seed); {
	case i < 0:
	case i < foundBefore:
		kinds, docs = strings.Fields(foundKinds), foundDocs
	default:
		docs = laterDocs
	}
	waits := []time.Duration{0, 0, 20 * time.Millisecond, 300 * time.Millisecond, time.Second, 2500 * time.Millisecond, 4 * time.Second, 11 * time.Second}
	moves := make([]move, 5+r.IntN(25))
	for i := range moves {
		moves[i] = move{
			what: kinds[r.IntN(len(kinds))], process: r.IntN(2), job: r.IntN(modelJobs), doc: r.IntN(docs),
			fault: fault{r.IntN(8), cut(r.IntN(4))}, wait: waits[r.IntN(len(waits))], beside: r.IntN(4) == 0,
		}
	}
	return moves
}

// shrink leaves out moves without which something is wrong, too.
func shrink(t *testing.T, seed uint64, moves []move) []move {
	for i := range slices.Backward(moves) {
		fewer := slices.Delete(slices.Clone(moves), i, i+1)
		if len(live(t, seed, fewer, false)) > 0 {
			moves = fewer
		}
	}
	return moves
}

// live carries out moves in a bubble, and returns what is wrong in the end.
func live(t *testing.T, seed uint64, moves []move, tell bool) (wrong []string) {
	t.Helper()
	storetest.Test(t, func(t *testing.T) {
		m := &model{target: &tally{seed: seed}, tell: tell}
		m.harness = newHarness(t, func(c *store.Config) {
			if tell {
				c.Logger = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
			}
		})
		m.begin()
		for _, move := range moves {
			m.move(move)
		}
		m.end()
		wrong = m.wrong
		if tell {
			for _, s := range wrong {
				t.Error(s)
			}
		}
	})
	return wrong
}

// model is two processes and what is known of them.
type model struct {
	*harness

	target    *tally
	tell      bool
	mu        sync.Mutex
	processes [2]*process
	ending    bool
	keepers   sync.WaitGroup // one for each process, which starts the next when it dies
	beside    sync.WaitGroup
	puts      int
	touched   map[string][]time.Time // when somebody changed a job, or may have
	versions  []scheduler.Stored     // of all jobs, the oldest first
	wrong     []string
}

// saved notes a definition that is stored from now on.
func (m *model) saved(k scheduler.Key, data []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.versions = append(m.versions, scheduler.Stored{Key: k, Data: bytes.Clone(data)})
}

func (m *model) complainf(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wrong = append(m.wrong, fmt.Sprintf(format, args...))
}

func (m *model) sayf(format string, args ...any) {
	if m.tell {
		m.t.Logf("%s "+format, append([]any{time.Since(epoch)}, args...)...)
	}
}

// begin starts the processes. One that dies is followed by another.
func (m *model) begin() {
	m.touched = map[string][]time.Time{}
	for i := range m.processes {
		m.processes[i] = m.newProcess(i)
		m.keepers.Go(func() { m.keep(i) })
	}
}

func (m *model) newProcess(i int) *process {
	return newProcess(m.harness, m.target, m.saved, func(f string, args ...any) { m.sayf("  %d: "+f, append([]any{i}, args...)...) })
}

func (m *model) keep(i int) {
	for {
		p := m.process(i)
		select {
		case <-p.store.died:
			m.sayf("process %d is dead", i)
		case <-m.t.Context().Done():
		}
		p.stop()
		m.keepers.Go(p.ended.Wait)
		time.Sleep(700 * time.Millisecond)
		m.mu.Lock()
		ending := m.ending
		m.mu.Unlock()
		if ending {
			return
		}
		next := m.newProcess(i)
		m.mu.Lock()
		m.processes[i] = next
		m.mu.Unlock()
	}
}

func (m *model) process(i int) *process {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.processes[i]
}

// move lets something happen.
func (m *model) move(v move) {
	m.sayf("%s", v)
	p := m.process(v.process)
	switch v.what {
	case "strike":
		p.store.strike(v.fault)
	case "kill":
		p.store.kill()
	case "reconnect":
		if _, dead := p.dead(); !dead {
			_ = p.store.nc.ForceReconnect()
		}
	case "wait":
	default:
		if v.beside {
			m.beside.Go(func() { m.ask(p, v) })
		} else {
			m.ask(p, v)
		}
	}
	time.Sleep(v.wait)
}

// ask has a process do something with a job. What is refused is refused.
func (m *model) ask(p *process, v move) {
	ctx, cancel := context.WithTimeout(m.t.Context(), 20*time.Second)
	defer cancel()
	name := fmt.Sprintf("job%d", v.job)
	m.mu.Lock()
	m.puts++
	n := m.puts
	m.mu.Unlock()
	time.Sleep(time.Duration(n) * time.Microsecond) // no two at the same instant: its name is an occurrence's
	m.touch(v, name)
	var err error
	switch v.what {
	case "put":
		_, _, err = p.service.Put(ctx, control.Edit{Key: key(name), Body: []byte(modelDoc(v.doc, n))})
	case "patch":
		_, err = p.service.Patch(ctx, control.Edit{Key: key(name), Body: fmt.Appendf(nil, `{"action": {"request": {"uri": "http://fine.example/%d"}}}`, n)})
	case "disable":
		_, err = p.service.Disable(ctx, key(name))
	case "enable":
		_, err = p.service.Enable(ctx, key(name))
	case "delete":
		err = p.service.Delete(ctx, key(name), 0)
	case "run":
		_, err = p.service.Trigger(ctx, key(name))
	case "pause":
		until := time.Now().UTC().Add(time.Duration(v.doc) * 2 * time.Second)
		_, err = p.service.Patch(ctx, control.Edit{Key: key(name), Body: fmt.Appendf(nil, `{"pausedUntil": %q}`, until.Format(time.RFC3339Nano))})
	case "cancel":
		_, err = p.service.Cancel(ctx, key(name), nil)
	case "resubmit":
		records := m.history(name)
		i := slices.IndexFunc(records, func(r *scheduler.Record) bool { return r.Occurrence != "" && r.Outcome != scheduler.OutcomeCompleted })
		if i >= 0 {
			_, err = p.service.Resubmit(ctx, key(name), fmt.Appendf(nil, `{"occurrence": %q}`, records[i].Occurrence))
		}
	case "close":
		_, err = p.service.SetCollectionState(ctx, scheduler.DefaultCollection, scheduler.Disabled)
	case "open":
		_, err = p.service.SetCollectionState(ctx, scheduler.DefaultCollection, scheduler.Enabled)
	}
	m.touch(v, name)
	m.sayf("  %s %s: %v", v.what, name, err)
	if errors.Is(err, scheduler.ErrInvalid) {
		m.complainf("%s: %v", v, err)
	}
}

// touch notes that a move changes a job, or all jobs of the collection.
func (m *model) touch(v move, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range modelJobs {
		if other := fmt.Sprintf("job%d", i); other == name || v.what == "close" || v.what == "open" {
			m.touched[other] = append(m.touched[other], time.Now())
		}
	}
}

// end lets everything come to rest, and looks at what there is.
func (m *model) end() {
	m.beside.Wait()
	for i := range m.processes {
		m.process(i).store.spare()
	}
	m.touch(move{what: "open"}, "")
	if _, err := m.service.SetCollectionState(m.t.Context(), scheduler.DefaultCollection, scheduler.Enabled); err != nil {
		m.complainf("open: %v", err)
	}
	time.Sleep(3 * time.Minute) // two audits, and all that is finite
	m.check()
	m.mu.Lock()
	m.ending = true
	m.mu.Unlock()
	for i := range m.processes {
		m.process(i).store.kill()
	}
	m.keepers.Wait()
}

// tally is the targets: it notes who called.
type tally struct {
	seed  uint64
	mu    sync.Mutex
	calls []*visit
}

// visit is a call.
type visit struct {
	at, ended time.Time
	by        *process
	id        string // of the attempt
	nominal   time.Time
}

// of returns the targets as a process sees them.
func (s *tally) of(p *process) http.RoundTripper { return visitor{s, p} }

type visitor struct {
	*tally

	by *process
}

// RoundTrip notes the call and answers it.
func (v visitor) RoundTrip(req *http.Request) (*http.Response, error) {
	c := &visit{at: time.Now(), by: v.by, id: req.Header.Get("Idempotency-Key") + "#" + req.Header.Get("X-Carillon-Attempt")}
	_, nominal, _ := strings.Cut(req.Header.Get("Idempotency-Key"), "@")
	c.nominal, _ = time.Parse(time.RFC3339Nano, nominal)
	v.mu.Lock()
	v.calls = append(v.calls, c)
	v.mu.Unlock()
	h := fnv.New64a()
	fmt.Fprint(h, v.seed, c.id)
	status := http.StatusOK
	switch host, _, _ := strings.Cut(req.URL.Host, "."); host {
	case "flaky":
		if h.Sum64()%2 == 0 {
			status = http.StatusInternalServerError
		}
	case "slow":
		select {
		case <-time.After(time.Duration(h.Sum64()%4) * time.Second):
		case <-req.Context().Done():
			return nil, context.Cause(req.Context())
		}
	}
	v.mu.Lock()
	c.ended = time.Now()
	v.mu.Unlock()
	return &http.Response{
		Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, Request: req,
	}, nil
}
