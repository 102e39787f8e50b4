package rest

import (
	"net/http"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// history answers with a page of the records of a job, a collection or all jobs, or follows them.
func (a *server) history(w http.ResponseWriter, r *http.Request) error {
	q, err := a.historyQuery(r)
	if err != nil {
		return err
	}
	form, err := tailFormOf(r)
	if err != nil {
		return err
	}
	if form != nil {
		return a.follow(w, r, q, form)
	}
	switch query := r.URL.Query(); {
	case query.Has("after"):
		return scheduler.Invalid("after", "is where a live tail begins: it goes with follow=true")
	case query.Has("as"):
		return scheduler.Invalid("as", "is the form of a live tail: it goes with follow=true")
	}
	page, err := pageOf(r)
	if err != nil {
		return err
	}
	if page.Before, err = view.ReadHistoryToken(r.URL.Query().Get("$skiptoken")); err != nil {
		return err
	}
	records, before, err := a.service.History(r.Context(), q, page)
	if err != nil {
		return err
	}
	next := ""
	if before > 0 {
		next = linkAfter(r, view.HistoryToken(before), 0)
	}
	return answer(w, http.StatusOK, view.ListOf(records, view.Record, next))
}

// historyQuery parses the selection of records.
func (a *server) historyQuery(r *http.Request) (q service.HistoryQuery, err error) {
	if q.RecordFilter, err = view.HistoryFilter(r.URL.Query().Get("$filter"), a.service.Now()); err != nil {
		return q, err
	}
	q.Key, q.UID, q.Sees = key(r), r.URL.Query().Get("uid"), access.Sees(r.Context())
	q.Earlier, err = flag(r, "earlier")
	return q, err
}
