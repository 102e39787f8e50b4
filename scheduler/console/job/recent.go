package job

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/console/admin"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/control"
)

// recent are the last runs of a job.
type recent struct {
	records []*scheduler.Record
	runs    []*run
	newest  uint64 // sequence of the last record; 0: none
	next    uint64 // the sequence before which the history has others; 0: none

	changes []*audit.Entry // the latest edits of the job, newest first
}

func (r section) recentOf(ctx context.Context, k scheduler.Key) (recent, error) {
	records, next, err := r.service.History(ctx, control.HistoryQuery{Key: k}, v1.Page{})
	if errors.Is(err, scheduler.ErrNotFound) {
		return recent{}, nil
	}
	if err != nil {
		return recent{}, err
	}
	all := recent{records: records, runs: runsOf(records, 0), next: next}
	if len(records) > 0 {
		all.newest = records[0].Sequence
	}
	return all, nil
}

// page returns the first records, and the sequence before which the next page starts; 0: no next page.
func (p *recent) page(size int) (records []*scheduler.Record, next uint64) {
	if size >= len(p.records) {
		return p.records, p.next
	}
	return p.records[:size], p.records[size-1].Sequence
}

func (r section) lastSuccess(ctx context.Context, k scheduler.Key, last recent) (*lastSuccess, error) {
	for _, one := range last.runs {
		if one.State == string(scheduler.OutcomeCompleted) {
			return &lastSuccess{At: one.Started.Add(one.Took), Link: one.Link()}, nil
		}
	}
	if last.next == 0 {
		return &lastSuccess{Never: true}, nil
	}
	q := control.HistoryQuery{Key: k, RecordFilter: scheduler.RecordFilter{
		Outcomes: []scheduler.Outcome{scheduler.OutcomeCompleted}, Phases: []scheduler.Phase{scheduler.MainPhase},
	}}
	records, next, err := r.service.History(ctx, q, v1.Page{Top: 1})
	if err != nil {
		return nil, err
	}
	if len(records) == 0 {
		return &lastSuccess{Never: next == 0}, nil
	}
	return &lastSuccess{At: records[0].Ended, Link: runsOf(records, 0)[0].Link()}, nil
}

// lastSuccess is the last success of the job.
type lastSuccess struct {
	At    time.Time
	Link  string // to the run; "": none
	Never bool   // in the retained history
}

// drawn returns the timeline.
func (r section) drawn(ctx context.Context, c *frame.Request, k scheduler.Key, past recent, next *coming) (t *timeline, err error) {
	t = timelineOf(past, next, c.Zone())
	t.Audit, t.LastMonth = admin.AuditOf(k), lastMonthOf(past, r.service.Now().In(c.Zone()))
	t.Success, err = r.lastSuccess(ctx, k, past)
	return t, err
}

// lastMonth summarizes the recent runs of the last 30 days.
type lastMonth struct {
	Since      time.Time // of the earliest run that was read; zero: all of the 30 days
	Runs       int       // that ended
	Part       string    // the completed ones, in percent
	Half, Most time.Duration
	Days       []day // oldest first; nil: fewer than two days were read
}

// day is a day of the strip.
type day struct {
	X         int
	Good, Bad int // heights in percent
	Title     string
}

const (
	monthDays = 30
	dayWidth  = 10
)

// lastMonthOf returns the summary of runs, newest first; nil if none of them ended.
func lastMonthOf(past recent, now time.Time) *lastMonth {
	first := time.Date(now.Year(), now.Month(), now.Day()-monthDays+1, 0, 0, 0, 0, now.Location())
	m, took := &lastMonth{}, []time.Duration(nil)
	good, bad := map[string]int{}, map[string]int{}
	read, whole := now, past.next == 0
	for _, one := range past.runs {
		if whole = whole || one.Nominal.Before(first); one.Nominal.Before(first) {
			break
		}
		read = one.Nominal
		of := bad
		switch scheduler.Outcome(one.State) {
		case scheduler.OutcomeCompleted:
			of = good
		case scheduler.OutcomeFaulted:
		default:
			continue
		}
		of[one.Nominal.In(now.Location()).Format(time.DateOnly)]++
		took = append(took, one.Took)
	}
	if m.Runs = len(took); m.Runs == 0 {
		return nil
	}
	if !whole {
		m.Since = read
	}
	slices.Sort(took)
	m.Half, m.Most = took[(len(took)-1)/2], took[(len(took)*95+99)/100-1]
	completed := 0
	for at := first; !at.After(now); at = at.AddDate(0, 0, 1) {
		date := at.Format(time.DateOnly)
		g, b := good[date], bad[date]
		completed += g
		d := day{X: len(m.Days) * dayWidth, Title: words.Date(at, words.Text("date.day")) + ": "}
		switch {
		case g+b > 0:
			d.Good = 100 * g / (g + b)
			d.Bad = 100 - d.Good
			d.Title += words.Text("job.month.day", g, b)
		case !whole && at.AddDate(0, 0, 1).Before(read):
			d.Title += words.Text("job.month.unread")
		default:
			d.Title += words.Count("common.runs", 0)
		}
		m.Days = append(m.Days, d)
	}
	m.Part = strconv.Itoa(100 * completed / m.Runs)
	if !read.Before(first.AddDate(0, 0, monthDays-1)) {
		m.Days = nil
	}
	return m
}
