package node

import (
	"context"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/flow"
)

// takeoverDelay is the delay between a failover and the consistency check. By then, all batons of the failed worker have
// been redelivered.
const takeoverDelay = 15 * time.Second

// rescueDelay is the delay between a consistency check and the search for batons that no worker receives. A
// killed server reports them only after a worker has finished all batons before them.
const rescueDelay = time.Minute

// audit runs consistency checks of jobs against batons, and repairs: at the start, after another worker has
// died, and periodically. Replicas check at different times.
func (n *Node) audit(ctx context.Context) {
	for {
		n.auditOnce(ctx)
		n.awaitAudit(ctx)
		if ctx.Err() != nil {
			return
		}
		select {
		case <-n.takeover: // this check covers the failover
		default:
		}
	}
}

// awaitAudit waits until the next consistency check is due.
func (n *Node) awaitAudit(ctx context.Context) {
	next := time.After(n.cfg.AuditEvery/2 + rand.N(n.cfg.AuditEvery)) //nolint:gosec // not a secret
	rescue := time.After(rescueDelay)
	for {
		select {
		case <-rescue:
			n.rescue(ctx)
			continue
		case <-next:
		case <-n.takeover:
			flow.Pause(ctx, takeoverDelay)
		case <-ctx.Done():
		}
		return
	}
}

func (n *Node) rescue(ctx context.Context) {
	switch found, err := n.service.Rescue(ctx); {
	case ctx.Err() != nil:
	case err != nil:
		n.log.Warn("the search for undelivered batons failed; the next consistency check repeats it", "err", err)
	case found > 0:
		n.log.Warn("redelivering running batons without a worker", "batons", found)
	}
}

// tookOver notes a baton that another worker held before.
func (n *Node) tookOver() { flow.Signal(n.takeover) }

// lostNamed is the maximum number of lost jobs in one log line. The doctor names all.
const lostNamed = 100

func (n *Node) auditOnce(ctx context.Context) {
	report, err := n.service.Audit(ctx, true)
	if ctx.Err() == nil {
		n.metrics.Audited(&report.AuditReport, err)
		n.activity.audited(report, err)
	}
	for _, u := range report.Undecryptable {
		n.log.Warn("the store contains secrets that this process cannot unseal", "key", u.Key, "shared", u.Secrets, "jobs", u.Jobs,
			"first", u.Example, "err", u.Reason)
	}
	if lost := report.Lost(); len(lost) > 0 {
		n.log.Error("definitions are missing; apply the jobs again from a backup to resume them, or delete them",
			"count", len(lost), "jobs", strings.Join(lost[:min(len(lost), lostNamed)], " "))
	}
	switch {
	case ctx.Err() != nil:
	case err != nil:
		n.log.Warn("the consistency check was interrupted", "err", err)
	case len(report.Findings) > 0:
		n.log.Warn("the consistency check found jobs and batons that do not match", "jobs", report.Jobs,
			"found", len(report.Findings), "mended", report.Fixed, "first", report.Findings[0].Name, "problem", report.Findings[0].Problem)
	case report.Ended > 0:
		n.log.Info("the consistency check found ended jobs, and updates their definitions", "jobs", report.Ended)
	default:
		n.log.Debug("the consistency check found no problems", "jobs", report.Jobs, "took", time.Duration(report.Duration))
	}
	if missing, err := n.service.CheckTrail(ctx); missing > 0 {
		n.log.Warn("the audit log now has the edits that ended processes had not recorded", "edits", missing)
	} else if err != nil && ctx.Err() == nil {
		n.log.Warn("the audit log was not compared with the jobs; the next consistency check will do it", "err", err)
	}
	if err := n.service.Finish(ctx, report); err != nil && ctx.Err() == nil {
		n.log.Warn("the ends of jobs were not written; the next consistency check will do it", "err", err)
	}
}
