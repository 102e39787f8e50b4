package rest

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/trail"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// audit answers with a page of the audit log of a job, a collection or all, newest first, or follows it.
func (a *server) audit(w http.ResponseWriter, r *http.Request) error {
	q, err := auditQuery(r)
	if err != nil {
		return err
	}
	follow, err := flag(r, "follow")
	if err != nil {
		return err
	}
	if follow {
		return a.followAudit(w, r, q)
	}
	if r.URL.Query().Has("after") {
		return scheduler.Invalid("after", "is where a live tail begins: it goes with follow=true")
	}
	page, err := pageOf(r)
	if err != nil {
		return err
	}
	if page.Before, err = view.ReadHistoryToken(r.URL.Query().Get("$skiptoken")); err != nil {
		return err
	}
	entries, before, err := a.service.Trail(r.Context(), q, page)
	if err != nil {
		return err
	}
	next := ""
	if before > 0 {
		next = linkAfter(r, view.HistoryToken(before), 0)
	}
	return answer(w, http.StatusOK, view.NewList(entries, next))
}

// auditQuery parses the selection of audit records.
func auditQuery(r *http.Request) (q service.TrailQuery, err error) {
	k, asked := key(r), r.URL.Query()
	q.Scope = trail.Scope{Kind: trail.Kind(asked.Get("kind")), Collection: k.Collection, Job: k.Job}
	q.Who, q.Op = asked.Get("who"), asked.Get("op")
	var problems document.Problems
	for _, bound := range []struct {
		name string
		at   *time.Time
	}{{"since", &q.Since}, {"until", &q.Until}} {
		text := asked.Get(bound.name)
		if text == "" {
			continue
		}
		if *bound.at, err = time.Parse(time.RFC3339Nano, text); err != nil {
			problems = append(problems, document.Problem{
				Path: bound.name, Message: strconv.Quote(text) + " is not a time such as 2026-03-08T02:30:00Z",
			})
		}
	}
	if problems != nil {
		return q, scheduler.AsInvalid(problems)
	}
	return q, nil
}

// followAudit sends the selected audit records after a sequence, or new ones only, one per line, until the client
// disconnects.
func (a *server) followAudit(w http.ResponseWriter, r *http.Request, q service.TrailQuery) error {
	if err := checkOptions(r.URL.RawQuery, api.AuditTail); err != nil {
		return err
	}
	var after *uint64
	if text := r.URL.Query().Get("after"); text != "" {
		n, err := view.ReadSequence("after", text)
		if err != nil {
			return err
		}
		after = &n
	}
	end, err := a.tails.begin(r)
	if err != nil {
		return err
	}
	defer end()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	t := &tail{form: &lines, to: w, control: http.NewResponseController(w), failed: cancel}
	defer t.close()
	begin := func(after uint64) { t.open(service.Beginning{After: after}) }
	err = a.service.FollowTrail(ctx, q, after, begin, func(e *trail.Entry) { t.write(append(view.JSON(e), '\n')) })
	if t.isOpen() && err != nil {
		a.log.Warn("a live tail was cut off", "path", r.URL.Path, "err", err)
		return nil // the client reconnects
	}
	return err
}
