package node

import (
	"cmp"
	"context"
	"crypto/rand"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/carillon-sched/carillon/actions/receive"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/engine/limits"
	"github.com/carillon-sched/carillon/scheduler/source"
	"github.com/carillon-sched/carillon/scheduler/stats"
)

// Intervals at which a process publishes its activity: about twenty small writes a minute, independent of the
// load.
const (
	reportEvery = 5 * time.Second  // after a change
	stillEvery  = 10 * time.Second // without a change
	hourEvery   = 15 * time.Second // counts of the current hour and day, and the failure groups
	lastWords   = 2 * time.Second  // for the final report

	// boardKept is how long the reports of all processes are valid for readers; rereadEvery is how often all are
	// read.
	boardKept   = time.Second
	loadKept    = 2 * time.Second
	rereadEvery = 5 * time.Minute

	// askTimeout limits how long a reader waits for NATS.
	askTimeout = 2 * time.Second
)

// Names of the reports of processes. The counts have the names of [stats.Period].
const (
	groupsName = "groups." // <id>
	reportName = "report." // <id>
)

// activity publishes the activity of this process and reads the reports of all others.
type activity struct {
	node     *Node
	recorder stats.Recorder
	id, name string
	since    time.Time
	now      func() time.Time            // by the clock of the NATS server
	audit    atomic.Pointer[stats.Audit] // the last one; nil: none yet

	board kept[*stats.Board]
	load  kept[scheduler.Load]
	all   readings
}

// readings holds the reports of all processes that were read.
type readings struct {
	after     uint64
	whole     time.Time // when all was read
	published map[string][]byte
}

func newActivity(n *Node) *activity {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	p := &activity{node: n, id: strings.ToLower(rand.Text()[:12]), name: host, now: n.store.Now}
	p.since = p.now()
	return p
}

// Record counts a record of this process.
func (p *activity) Record(r *scheduler.Record) { p.recorder.Add(r, p.now()) }

// run publishes the activity of this process until ctx is done, then a final report.
func (p *activity) run(ctx context.Context) {
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	var last stats.Report
	var hours, said time.Time
	for {
		if now := time.Now(); now.Sub(hours) >= hourEvery-time.Second {
			hours = now
			p.publishCounts(ctx)
			board, _ := p.Board(ctx) // with an error, it has the last known groups
			p.recorder.Adopt(board.Groups, board.Now)
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
	p.publishCounts(ctx)
	r := p.report()
	r.Stopped = true
	p.tellReport(ctx, r)
}

// publishCounts publishes the counts since the last call.
func (p *activity) publishCounts(ctx context.Context) {
	p.recorder.Changed(func(of stats.Period, data []byte) bool {
		err := p.node.store.PublishActivity(ctx, of.Name(p.id), data, of.Lasts())
		if err != nil {
			p.node.log.Debug("publishing the counts failed; retrying", "err", err)
		}
		return err == nil
	})
	p.recorder.ChangedGroups(p.now(), func(data []byte) bool {
		err := p.node.store.PublishActivity(ctx, groupsName+p.id, data, stats.Kept)
		if err != nil {
			p.node.log.Debug("publishing the failure groups failed; retrying", "err", err)
		}
		return err == nil
	})
}

func (p *activity) tellReport(ctx context.Context, r stats.Report) {
	data, err := r.Encode()
	if err == nil {
		err = p.node.store.PublishActivity(ctx, reportName+p.id, data, stats.Present)
	}
	if err != nil {
		p.node.log.Debug("publishing the activity of this process failed", "err", err)
	}
}

// report returns the report of this process.
func (p *activity) report() stats.Report {
	n, now := p.node, p.now()
	load := n.worker.Stats()
	r := stats.Report{
		ID: p.id, Name: p.name, Version: n.cfg.Version, Since: p.since, At: now, Server: n.cfg.Conn.ConnectedServerName(),
		InFlight: load.InFlight, Queued: load.Queued, Held: load.Held, Audit: p.audit.Load(),
	}
	for _, a := range n.worker.Running(stats.RunningMost) {
		r.Running = append(r.Running, stats.Running{
			Job: a.Job.String(), Occurrence: a.Nominal, Attempt: a.Try, Since: a.Started, Target: a.Target,
		})
	}
	var limited []stats.Target
	for _, t := range n.worker.Troubled() {
		limited = append(limited, stats.Target{
			Name: t.Name, Collection: t.Collection, State: targetStates[t.State], Until: t.Until, InFlight: t.InFlight, Queued: t.Queued,
		})
	}
	r.Targets = stats.MergeTargets(limited, p.recorder.Targets(now, 2*stats.TargetsMost))
	r.Sources = n.sources.Statuses()
	r.Bound()
	return r
}

// sharedSources are the sources with their status in all processes.
type sharedSources struct {
	*receive.Manager

	activity *activity
}

// Status implements [control.RunningSources]. The status in this process is current, that in others a few seconds old.
func (s sharedSources) Status(ctx context.Context, of *source.Source) (all source.Status, known bool) {
	board, _ := s.activity.Board(ctx) // on an error, the last known one
	for _, r := range board.Replicas {
		one, ok := r.Sources[of.UID]
		if r.ID == s.activity.id {
			one, ok = s.Manager.Status(of.Key)
		}
		if ok {
			all, known = all.Merge(one), true
		}
	}
	return all, known
}

var targetStates = map[limits.State]string{
	limits.Open: stats.TargetOpen, limits.HalfOpen: stats.TargetHalf, limits.Slow: stats.TargetSlow, limits.Limited: stats.TargetLimited,
}

// Board returns the reports of all processes, with the current one of this process. On an error it contains this
// process and the others' last known reports.
func (p *activity) Board(ctx context.Context) (*stats.Board, error) {
	return p.board.get(ctx, boardKept, p.look)
}

// Failures returns the failure groups of the collections that sees accepts.
func (p *activity) Failures(ctx context.Context, sees func(collection string) bool) []*v1.FailureGroup {
	board, _ := p.Board(ctx) // as above
	return board.FailureGroups(sees)
}

// summary returns the board for the APIs.
func (p *activity) summary(ctx context.Context) (*v1.Activity, error) {
	board, err := p.Board(ctx)
	return board.Activity(), err
}

// Load returns the total load of all processes.
func (p *activity) Load(ctx context.Context) (scheduler.Load, error) {
	return p.load.get(ctx, loadKept, p.node.store.Load)
}

// look builds a board; only one call runs at a time.
func (p *activity) look(ctx context.Context) (*stats.Board, error) {
	err := p.readOthers(ctx)
	board := stats.NewBoard(p.now())
	own := map[string]bool{groupsName + p.id: true}
	board.AddGroups(p.recorder.Groups(board.Now))
	p.recorder.Periods(func(of stats.Period, data []byte) {
		own[of.Name(p.id)] = true
		_ = board.AddPeriod(of, data) // it was just written
	})
	for name, data := range p.all.published {
		if !own[name] && !p.put(board, name, data) {
			delete(p.all.published, name)
		}
	}
	board.AddReport(p.report())
	board.Finish()
	return board, err
}

// put adds a report to a board, and reports whether to keep it. Unreadable reports of later versions are not kept.
func (p *activity) put(board *stats.Board, name string, data []byte) bool {
	if of, ok := stats.ParsePeriod(name); ok {
		return board.AddPeriod(of, data) == nil && board.Now.Sub(of.Start()) <= of.Lasts()
	}
	if strings.HasPrefix(name, groupsName) {
		all, err := stats.ReadGroups(data)
		return err == nil && board.AddGroups(all)
	}
	if !strings.HasPrefix(name, reportName) {
		return false
	}
	r, err := stats.ReadReport(data)
	if err == nil {
		board.AddReport(r)
	}
	return err == nil && board.Now.Sub(r.At) < time.Hour
}

// readOthers reads the reports since the last call.
func (p *activity) readOthers(ctx context.Context) error {
	if time.Since(p.all.whole) > rereadEvery || p.all.published == nil {
		p.all = readings{whole: time.Now(), published: map[string][]byte{}}
	}
	after, err := p.node.store.ReadActivity(ctx, p.all.after, func(name string, data []byte) { p.all.published[name] = data })
	p.all.after = after
	return err
}

// audited records the result of a consistency check.
func (p *activity) audited(rep *control.AuditReport, err error) {
	a := &stats.Audit{At: p.now(), Took: time.Duration(rep.Duration), Jobs: rep.Jobs, Found: len(rep.Findings), Mended: rep.Fixed}
	if err != nil {
		a.Failed = err.Error()
	}
	for _, f := range rep.Findings {
		count(a, f)
	}
	a.Secrets = len(rep.Undecryptable)
	p.audit.Store(a)
}

func count(a *stats.Audit, f v1.Finding) {
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
