package live

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/records"
	"github.com/carillon-sched/carillon/scheduler/console/table"
	"github.com/carillon-sched/carillon/scheduler/control"
)

//go:embed live.html
var files embed.FS

//go:embed assets
var assets embed.FS

var templates = frame.Templates(files, "live.html")

// Path is the path of the page.
const Path = frame.Root + "/live"

// eventsPath is the path of its events.
const eventsPath = Path + "/events"

type section struct {
	service *control.Service
	rows    *rows
}

// Section returns the page.
func Section(s *control.Service, traces frame.TraceURL) frame.Section {
	r := section{s, &rows{traces: traces}}
	return frame.Section{Name: "live", Path: Path, Key: "l", Ranged: true, Right: auth.ReadAny, Assets: assets, Routes: []frame.Route{
		frame.Get(Path, auth.ReadAny, r.show),
		frame.Stream(eventsPath, auth.ReadAny, r.events),
	}, Views: records.Parameters()}
}

// shown is the content of the page.
type shown struct {
	Filter      records.Filter
	Range       *frame.TimeRange
	Collections []string
	Outcomes    []scheduler.Outcome
	Types       []string
	List        list
}

// list is the part of the page that depends on the filter.
type list struct {
	Lines   []line
	Base    string         // the URL of the page with the filter; …before=SEQUENCE has the records before a sequence
	Files   *table.Files   // the history with the filter
	Events  string         // the URL of the events; "": none
	Older   string         // the URL of the next page; "": none
	Newest  string         // the URL of the first page; "": this page
	Filters bool           // the filter is not empty
	Most    int            // maximum number of lines on the page
	Problem *frame.Problem // the filter is invalid
}

// linesKept limits the lines of a live page.
const linesKept = 500

// pageSize is the initial number of lines of a page.
const pageSize = 100

func (r section) show(c *frame.Request) error {
	s := shown{Filter: records.ReadURL(c), Outcomes: scheduler.Outcomes, Types: r.service.ActionTypes()}
	var status int
	var err error
	if s.Range, err = c.TimeRange(r.service.Now(), ""); err == nil {
		if sent, err := r.export(c, &s.Filter); sent || err != nil {
			return err
		}
		s.List, err = r.list(c, &s.Filter)
	}
	if s.List.Problem, status, err = c.Inside(err); err != nil {
		return err
	}
	if s.Collections, err = c.Collections(r.service, auth.Read); err != nil {
		return err
	}
	return c.Show(&frame.Page{
		Status: status, Title: c.Text("live.title"), Template: templates, Fragment: "tail", Data: &s, Range: s.Range,
		Scripts: []string{"live/live.js", "frame/views.js"}, Styles: []string{"live/live.css"},
	})
}

// exported are the columns of the history as a file.
var exported = strings.Fields(`name properties.status properties.reason properties.occurrence properties.actionName properties.retryCount
	properties.manual properties.dueTime properties.startTime properties.endTime properties.lateness properties.duration
	properties.actionType properties.target properties.statusCode properties.message properties.response`)

// export sends the records of a filter as a file, if the URL asks for one.
func (r section) export(c *frame.Request, f *records.Filter) (sent bool, err error) {
	var q control.HistoryQuery // of the first page, so that all have the same times
	return table.List[*scheduler.Record, uint64]{
		Name: "history", Fields: exported, JSON: v1.Record,
		Next: func(before uint64) (all []*scheduler.Record, next uint64, err error) {
			if before == 0 {
				if q, err = f.Query(c.Context(), r.service); err != nil {
					return nil, 0, err
				}
			}
			return r.service.History(c.Context(), q, v1.Page{Before: before})
		},
	}.Export(c)
}

// list reads the requested page of the history.
func (r section) list(c *frame.Request, f *records.Filter) (l list, err error) {
	l = list{Base: f.Address(Path), Files: table.FilesOf(Path, f.Values()), Filters: !f.IsEmpty(), Most: linesKept}
	q, err := f.Query(c.Context(), r.service)
	if err != nil {
		return l, err
	}
	before, err := v1.ReadSequence(records.Before, c.Query(records.Before))
	if err != nil {
		return l, err
	}
	last := uint64(0)
	if before == 0 && !f.Bounded() { // the events have all later records
		if last, err = r.service.LastRecord(c.Context()); err != nil {
			return l, err
		}
	}
	found, next, err := r.service.History(c.Context(), q, v1.Page{Top: pageSize, Before: before})
	if err != nil {
		return l, err
	}
	l.Lines = linesOf(folded(found), r.rows.traces)
	if next > 0 {
		l.Older = f.Address(Path, records.Before, v1.HistoryToken(next))
	}
	if before > 0 {
		l.Newest = l.Base
	}
	if before == 0 && !f.Bounded() {
		if len(found) > 0 {
			last = max(last, found[0].Sequence)
		}
		l.Events = f.Address(eventsPath, "follow", "true", "after", sequence(last))
	}
	return l, nil
}

// turn is the interval of events.
const turn = 250 * time.Millisecond

// events sends new records after a position.
func (r section) events(c *frame.Request) error {
	f := records.ReadURL(c)
	q, err := f.Query(c.Context(), r.service)
	if err != nil {
		return err
	}
	after, err := placeOf(c)
	if err != nil {
		return err
	}
	s := sender{call: c, live: c.Live(), tail: &tail{credit: atOnce}, filter: &f, rows: r.rows}
	ctx, cancel := context.WithCancel(c.Context())
	ended := make(chan error, 1)
	var following sync.WaitGroup
	defer following.Wait()
	defer cancel()
	gaps := make(chan *v1.Gap, 1)
	following.Go(func() {
		ended <- r.service.Follow(ctx, q, control.Tail{
			After: after, Beyond: true, Record: s.tail.add, Passed: s.tail.pass,
			Ready: func(b control.Beginning) {
				s.tail.pass(b.After)
				gaps <- v1.HistoryGap(after, b.First, b.Last)
			},
		})
	})
	select {
	case <-ctx.Done():
		return nil
	case why := <-ended:
		return s.end(why)
	case gap := <-gaps:
		if err := s.begin(gap); err != nil {
			return err
		}
	}
	turns := 0
	return s.live.Every(turn, func() error {
		turns++
		select {
		case why := <-ended:
			return errors.Join(s.end(why), frame.ErrOver)
		default:
		}
		if turns%int(frame.Beat/turn) == 0 {
			return s.mark()
		}
		return s.send()
	})
}

// sender writes the records of a tail.
type sender struct {
	call   *frame.Request
	live   *frame.Live
	tail   *tail
	filter *records.Filter
	rows   *rows
	sent   uint64 // the position that the browser knows
}

// begin sends a gap between the requested position and the first retained record.
func (s *sender) begin(gap *v1.Gap) error {
	if gap == nil {
		return s.mark()
	}
	text, err := frame.Written(templates, "gap", gap)
	if err == nil {
		err = s.live.Event("rows", sequence(max(gap.First, 1)-1), text)
	}
	return err
}

// send sends new records.
func (s *sender) send() error {
	b := s.tail.take()
	if b.empty() {
		return nil
	}
	text, err := s.rows.all(&b, s.filter.Address(Path, records.Before, sequence(b.Before)))
	if err != nil {
		return err
	}
	s.sent = b.last
	return s.live.Event("rows", sequence(b.last), text)
}

// mark sends the position up to which no other record matched.
func (s *sender) mark() error {
	if err := s.send(); err != nil {
		return err
	}
	s.tail.mu.Lock()
	passed := s.tail.passed
	s.tail.mu.Unlock()
	if passed == s.sent || passed == 0 {
		return s.live.StillThere()
	}
	s.sent = passed
	return s.live.Event("mark", sequence(passed), "")
}

// end sends the final event. If the store is temporarily unavailable, the browser reconnects instead.
func (s *sender) end(why error) error {
	if why == nil {
		return nil
	}
	p := s.call.Describe(why)
	if err := s.send(); err != nil || p.Status >= http.StatusInternalServerError {
		return nil //nolint:nilerr // the browser is gone
	}
	return s.live.End(p)
}

// placeOf returns the position after which events begin: from Last-Event-ID, else from the URL. nil: new records only.
func placeOf(c *frame.Request) (*uint64, error) {
	text := cmp.Or(c.Request.Header.Get("Last-Event-Id"), c.Query("after"))
	if text == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	n, err := v1.ReadSequence("after", text)
	return &n, err
}

func sequence(n uint64) string { return strconv.FormatUint(n, 10) }
