package job

import (
	"context"
	"errors"
	"strconv"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/trail"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// The numbers of shown audit records.
const (
	auditFew  = 5
	auditMany = 50
)

// auditOf returns the changes of a job, newest first; none if the audit log is disabled.
func (r room) auditOf(ctx context.Context, k scheduler.Key, n int, before uint64) ([]*trail.Entry, uint64, error) {
	q := service.TrailQuery{Scope: trail.Scope{Kind: trail.Job, Collection: k.Collection, Job: k.Job}}
	entries, next, err := r.service.Trail(ctx, q, view.Page{Top: n, Before: before})
	if errors.Is(err, scheduler.ErrNotFound) {
		return nil, 0, nil
	}
	return entries, next, err
}

// showAudit answers with a page of the job's changes. The job may be deleted.
func (r room) showAudit(c *frame.Call) error {
	k := key(c)
	before, err := view.ReadSequence(beforeField, c.Query(beforeField))
	if err != nil {
		return err
	}
	entries, next, err := r.auditOf(c.Context(), k, auditMany, before)
	if err != nil {
		return err
	}
	older := ""
	if next != 0 {
		older = frame.JobPath(k) + "/audit?" + beforeField + "=" + strconv.FormatUint(next, 10)
	}
	return c.Show(shown(c.Say("job.audit")+" · "+k.Job, "audit", struct {
		name

		Audit []*trail.Entry
		Older string
	}{nameOf(c, k), entries, older}))
}
