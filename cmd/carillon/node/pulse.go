package node

import (
	"cmp"
	"context"
	"crypto/rand"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/limits"
	"github.com/carillon-sched/carillon/scheduler/pulse"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// The rhythm in which a process tells the others what it does: some twenty small writes a minute, however much runs.
const (
	reportEvery = 5 * time.Second  // when something has changed
	stillEvery  = 10 * time.Second // when nothing has
	hourEvery   = 15 * time.Second // what was counted in the present hour, and what failed last
	lastWords   = 2 * time.Second  // for what is told at the end

	// boardKept is how long what all processes have told counts for who looks, and rereadEvery how often all of it is read.
	boardKept   = time.Second
	loadKept    = 2 * time.Second
	rereadEvery = 5 * time.Minute

	// askTimeout is how long who looks waits for NATS.
	askTimeout = 2 * time.Second
)

// The names below which processes tell of themselves.
const (
	hourName   = "hour."   // <id>.<hour>
	failedName = "failed." // <id>
	reportName = "report." // <id>
)

// pulses is what this process does, as it tells it to the others, and what they have told.
type pulses struct {
	node     *Node
	recorder pulse.Recorder
	id, name string
	since    time.Time
	now      func() time.Time // by the clock of the NATS server
	audit    kept[*pulse.Audit]

	board kept[*pulse.Board]
	load  kept[scheduler.Load]
	all   readings
}

// readings is what all processes have told, as far as it was read.
type readings struct {
	after uint64
	whole time.Time // when all was read
	told  map[string][]byte
}

func newPulses(n *Node) *pulses {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	p := &pulses{node: n, id: strings.ToLower(rand.Text()[:12]), name: host, now: n.store.Now}
	p.since = p.now()
	return p
}

// Record counts a record of this process.
func (p *pulses) Record(r *scheduler.Record) { p.recorder.Add(r, p.now()) }

// run tells the others what this process does, until ctx is done, and then that it has stopped.
func (p *pulses) run(ctx context.Context) {
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	var last pulse.Report
	var hours, said time.Time
	for {
		if now := time.Now(); now.Sub(hours) >= hourEvery-time.Second {
			hours = now
			p.tellHours(ctx)
		}
		r := p.report()
		if now := time.Now(); now.Sub(said) >= stillEvery-time.Second || !r.Same(&last) {
			p.tellReport(ctx, r)
			last, said = r, now
		}
		select {
		case <-tick.C:
			continue
		case <-ctx.Done():
		}
		break
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	p.tellHours(ctx)
	r := p.report()
	r.Stopped = true
	p.tellReport(ctx, r)
}

// tellHours tells what was counted since the last time.
func (p *pulses) tellHours(ctx context.Context) {
	p.recorder.Changed(func(number pulse.Hour, data []byte) bool {
		err := p.node.store.TellPulse(ctx, hourName+p.id+"."+strconv.FormatInt(int64(number), 10), data, pulse.Kept)
		if err != nil {
			p.node.log.Debug("what was counted is not told; it is tried again", "err", err)
		}
		return err == nil
	})
	p.recorder.ChangedFailures(func(data []byte) bool {
		err := p.node.store.TellPulse(ctx, failedName+p.id, data, pulse.Kept)
		if err != nil {
			p.node.log.Debug("what failed last is not told; it is tried again", "err", err)
		}
		return err == nil
	})
}

func (p *pulses) tellReport(ctx context.Context, r pulse.Report) {
	data, err := r.Encode()
	if err == nil {
		err = p.node.store.TellPulse(ctx, reportName+p.id, data, pulse.Present)
	}
	if err != nil {
		p.node.log.Debug("nobody is told how busy this process is", "err", err)
	}
}

// report is what this process says of itself.
func (p *pulses) report() pulse.Report {
	n, now := p.node, p.now()
	stats := n.worker.Stats()
	audit, _ := p.audit.last()
	r := pulse.Report{
		ID: p.id, Name: p.name, Version: n.cfg.Version, Since: p.since, At: now, Server: n.cfg.Conn.ConnectedServerName(),
		InFlight: stats.InFlight, Queued: stats.Queued, Held: stats.Held, Audit: audit,
	}
	for _, a := range n.worker.Running(pulse.RunningMost) {
		r.Running = append(r.Running, pulse.Running{
			Job: a.Job.String(), Occurrence: a.Nominal, Attempt: a.Try, Since: a.Started, Target: a.Target,
		})
	}
	var limited []pulse.Target
	for _, t := range n.worker.Troubled() {
		limited = append(limited, pulse.Target{
			Name: t.Name, Collection: t.Collection, State: targetStates[t.State], Until: t.Until, InFlight: t.InFlight, Queued: t.Queued,
		})
	}
	r.Targets = pulse.MergeTargets(limited, p.recorder.Targets(now, 2*pulse.TargetsMost))
	r.Bound()
	return r
}

var targetStates = map[limits.State]string{
	limits.Open: pulse.TargetOpen, limits.HalfOpen: pulse.TargetHalf, limits.Slow: pulse.TargetSlow, limits.Limited: pulse.TargetLimited,
}

// Board tells what all processes have told, and what this one does just now. With an error it is of this one alone, and of
// what was known of the others.
func (p *pulses) Board(ctx context.Context) (*pulse.Board, error) {
	return p.board.get(ctx, boardKept, p.look)
}

// Load tells how much there is to do for all processes together.
func (p *pulses) Load(ctx context.Context) (scheduler.Load, error) {
	return p.load.get(ctx, loadKept, p.node.store.Load)
}

// look makes a board. One does at a time.
func (p *pulses) look(ctx context.Context) (*pulse.Board, error) {
	err := p.readOthers(ctx)
	board := pulse.NewBoard(p.now())
	own := map[string]bool{failedName + p.id: true}
	board.AddFailures(p.recorder.Failures())
	p.recorder.Hours(func(number pulse.Hour, data []byte) {
		own[hourName+p.id+"."+strconv.FormatInt(int64(number), 10)] = true
		_ = board.AddHour(number, data) // it was just written
	})
	for name, data := range p.all.told {
		if !own[name] && !p.put(board, name, data) {
			delete(p.all.told, name)
		}
	}
	board.AddReport(p.report())
	board.Finish()
	return board, err
}

// put puts what was told on a board, and reports whether it may be of use again. What a later version tells, and cannot be
// read, is not.
func (p *pulses) put(board *pulse.Board, name string, data []byte) bool {
	if rest, ok := strings.CutPrefix(name, hourName); ok {
		_, text, _ := strings.Cut(rest, ".")
		number, err := strconv.ParseInt(text, 10, 64)
		return err == nil && board.AddHour(pulse.Hour(number), data) == nil && board.Now.Sub(pulse.Hour(number).Start()) <= pulse.Kept
	}
	if strings.HasPrefix(name, failedName) {
		all, err := pulse.ReadFailures(data)
		before := len(board.Failures)
		board.AddFailures(all)
		return err == nil && len(board.Failures) > before
	}
	if !strings.HasPrefix(name, reportName) {
		return false
	}
	r, err := pulse.ReadReport(data)
	if err == nil {
		board.AddReport(r)
	}
	return err == nil && board.Now.Sub(r.At) < time.Hour
}

// readOthers reads what was told since the last time.
func (p *pulses) readOthers(ctx context.Context) error {
	if time.Since(p.all.whole) > rereadEvery || p.all.told == nil {
		p.all = readings{whole: time.Now(), told: map[string][]byte{}}
	}
	after, err := p.node.store.ReadPulse(ctx, p.all.after, func(name string, data []byte) { p.all.told[name] = data })
	p.all.after = after
	return err
}

// audited notes what an audit came to.
func (p *pulses) audited(rep *service.AuditReport, err error) {
	a := &pulse.Audit{At: p.now(), Took: time.Duration(rep.Duration), Jobs: rep.Jobs, Found: len(rep.Findings), Mended: rep.Fixed}
	if err != nil {
		a.Failed = err.Error()
	}
	for _, f := range rep.Findings {
		count(a, f)
	}
	a.Secrets = len(rep.Undecryptable)
	p.audit.set(a)
}

func count(a *pulse.Audit, f view.Finding) {
	switch {
	case f.Fixed:
		return
	case f.Lost:
		a.Lost++
	case f.Damaged:
		a.Damaged++
	}
	a.Say(cmp.Or(f.Name, "?") + ": " + f.Problem)
}
