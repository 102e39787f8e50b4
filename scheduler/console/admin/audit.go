package admin

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/records"
	"github.com/carillon-sched/carillon/scheduler/console/table"
	"github.com/carillon-sched/carillon/scheduler/control"
)

const auditPath = frame.Root + "/audit"

// ObjectLabel is the label of the column with the changed object.
const ObjectLabel = "admin.object"

// Changes are the columns of the audit log.
var Changes = []table.Column[*audit.Entry]{
	table.Time("common.when", "", func(e *audit.Entry) time.Time { return e.Time }),
	table.Text("admin.who", "", who),
	table.Text("admin.address", "wide-only", func(e *audit.Entry) string { return e.By.Address }),
	table.Text("admin.op", "", func(e *audit.Entry) string { return e.Op }),
	{Label: ObjectLabel, Cell: object},
	{Label: "admin.result", Cell: result},
	table.Text("admin.changed", "", func(e *audit.Entry) string { return strings.Join(e.Changed, ", ") }),
}

// who names the caller, and the name that it claims.
func who(e *audit.Entry) string {
	switch {
	case e.Claim == "":
		return e.By.String()
	case e.By.Name == "":
		return e.Claim + "?"
	}
	return e.By.Name + " (" + e.Claim + "?)"
}

func object(e *audit.Entry) table.Cell {
	cell := table.Cell{Text: e.Target()}
	switch e.Kind { //nolint:exhaustive // others have no page
	case audit.Job:
		cell.Link = frame.JobPath(e.Key())
	case audit.Collection:
		cell.Link = frame.Root + "/collections/" + url.PathEscape(e.Collection)
	}
	return cell
}

func result(e *audit.Entry) table.Cell {
	parts := []string{e.Result, string(e.State), string(e.Phase), e.Error}
	cell := table.Cell{Text: strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " · ")}
	if e.Error != "" {
		cell.Mark = "failed"
	}
	return cell
}

// AuditOf returns the URL of the changes of a job.
func AuditOf(k scheduler.Key) string {
	return frame.Address(auditPath, nil, "collection", k.Collection, "job", k.Job)
}

// log is the filter of the audit log.
type log struct {
	records.Filter // of it the collection, the job and the times

	Who, Op, Kind string
	Collections   []string
	Ops           []string
	Kinds         []audit.Kind
}

// auditSize limits the entries of a page.
const auditSize = 50

// audit shows a page of the audit log. An administrator of some collections sees one of these.
func (r *section) audit(c *frame.Request, s *shown) error {
	l := &log{
		Filter: records.ReadURL(c, "collection", "job", "since", "until"),
		Who:    c.Query("who"), Op: c.Query("op"), Kind: c.Query("kind"), Ops: audit.Ops, Kinds: audit.Kinds,
	}
	s.Log = l
	var err error
	if l.Collections, err = c.Collections(r.Service, auth.Administer); err != nil {
		return err
	}
	if l.Collection == "" && !c.May(auth.Administer, "") && len(l.Collections) > 0 {
		l.Collection = l.Collections[0]
	}
	records, err := l.Query(c.Context(), r.Service)
	if err != nil {
		return err
	}
	if err := auth.Check(c.Context(), auth.Administer, records.Key.Collection); err != nil {
		return err
	}
	before, err := v1.ReadSequence("before", c.Query("before"))
	if err != nil {
		return err
	}
	q := control.TrailQuery{
		Scope: audit.Scope{Kind: audit.Kind(l.Kind), Collection: records.Key.Collection, Job: scheduler.KeyIn(l.Collection, l.Job).Job},
		Who:   l.Who, Op: l.Op, Since: records.Since, Until: records.Until,
	}
	s.sent, err = table.List[*audit.Entry, uint64]{
		Name:   "audit",
		Fields: strings.Fields("time by.name by.via by.address claim kind op collection job name result state phase error changed"),
		Next: func(before uint64) ([]*audit.Entry, uint64, error) {
			return r.Service.Trail(c.Context(), q, v1.Page{Before: before})
		},
	}.Export(c)
	if s.sent || err != nil {
		return err
	}
	entries, next, err := r.Service.Trail(c.Context(), q, v1.Page{Top: auditSize, Before: before})
	if err != nil {
		return err
	}
	pairs := []string{"who", l.Who, "op", l.Op, "kind", l.Kind}
	s.Table = table.New(Changes, entries, c.Text("common.no-changes"))
	s.Table.Files = table.FilesOf(auditPath, l.Values(), pairs...)
	if next != 0 {
		s.Table.Older = l.Address(auditPath, append(pairs, "before", v1.HistoryToken(next))...)
	}
	return nil
}
