package overview

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/admin"
	"github.com/carillon-sched/carillon/scheduler/console/failures"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/table"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/stats"
)

// shown is the content of the page at one time.
type shown struct {
	Events string           // the URL of the events
	All    bool             // the caller may read all collections
	Range  *frame.TimeRange // of the charts

	Due   due
	dueAt time.Time

	HasSource bool // a [Source] exists
	Board     *stats.Board
	Running   []stats.Running  // attempts that the caller may see
	More      bool             // other attempts exist, or may exist
	Groups    []failures.Group // the first open ones, at most [groupsShown]
	Others    int              // other groups
	Load      scheduler.Load
	Loaded    bool
	Trouble   string // why some data is missing

	series *stats.Series // of the charts
}

// groupsShown limits the failure groups on the page, which links to the others.
const groupsShown = 5

// dueAgain is the interval of counts for a caller who may not read all collections.
const dueAgain = 5 * time.Second

// look reads the content of the page. before is the previous content, nil for none.
func (r section) look(c *frame.Request, before *shown) (*shown, error) {
	s, err := r.blank(c)
	if err != nil {
		return nil, err
	}
	if err := r.countDue(c, s, before); err != nil {
		return nil, err
	}
	if r.source == nil {
		return s, nil
	}
	s.HasSource = true
	if s.Board, err = r.source.Board(c.Context()); err != nil {
		s.Trouble = err.Error()
	}
	s.series = s.Board.Series(s.Range.From, s.Range.To)
	sees := auth.Sees(c.Context())
	s.Running = slices.DeleteFunc(slices.Clone(s.Board.Running), func(a stats.Running) bool {
		collection, _, _ := strings.Cut(a.Job, "/")
		return !sees(collection)
	})
	s.More = s.Board.InFlight() > len(s.Board.Running)
	groups, err := r.service.Failures(c.Context())
	if err != nil {
		s.Trouble = err.Error()
	}
	urgent := slices.IndexFunc(groups, func(g *v1.FailureGroup) bool { return g.State == v1.FailureMuted || g.State == v1.FailureResolved })
	if urgent < 0 {
		urgent = len(groups)
	}
	s.Groups, s.Others = failures.Groups(groups[:min(urgent, groupsShown)]), len(groups)-min(urgent, groupsShown)
	if s.All {
		s.Load, err = r.source.Load(c.Context())
		s.Loaded = err == nil
		if err != nil {
			s.Trouble = err.Error()
		}
	}
	return s, nil
}

// blank returns an empty page.
func (r section) blank(c *frame.Request) (*shown, error) {
	of, err := c.TimeRange(r.service.Now(), "1h")
	events := frame.Address(eventsPath, nil, "follow", "1", "since", of.Since, "until", of.Until)
	return &shown{All: c.May(auth.Read, ""), Range: of, Events: events}, err
}

// nothing returns the page for an error.
func (r section) nothing(c *frame.Request, err error) *shown {
	s, _ := r.blank(c)
	s.Trouble = c.Describe(err).Text
	return s
}

func (r section) countDue(c *frame.Request, s, before *shown) (err error) {
	switch {
	case s.All:
		one := r.due.At(c, "", func(ctx context.Context, _ func(int)) (n due, err error) {
			n.Due, n.Known, err = r.service.Due(ctx, nil, lengths...)
			return n, err
		})
		if one = one.Shown(c.Context(), dueWait); one == nil {
			return nil // it takes longer than a page may wait
		}
		s.Due = one.Value
		return one.Err
	case before != nil && time.Since(before.dueAt) < dueAgain:
		s.Due, s.dueAt = before.Due, before.dueAt
		return nil
	}
	s.dueAt = time.Now()
	s.Due.Due, s.Due.Known, err = r.service.Due(c.Context(), auth.Sees(c.Context()), lengths...)
	return err
}

// Sum adds the lanes.
func (s *shown) Sum() (sum scheduler.LaneLoad) {
	for _, l := range s.Load.Lanes {
		sum.Waiting += l.Waiting
		sum.Running += l.Running
		sum.Pending += l.Pending
	}
	return sum
}

// Versions returns the versions of the schedulers.
func (s *shown) Versions() []string {
	var all []string
	for _, r := range s.Board.Replicas {
		if !slices.Contains(all, r.Version) {
			all = append(all, r.Version)
		}
	}
	return all
}

// Members returns the schedulers.
func (s *shown) Members() *table.Table { return admin.Members(s.Board.Replicas) }

// FailedPart returns the failed runs of the last day as a percentage.
func (s *shown) FailedPart() string { return hundredths(s.Board.Last.Failed, s.Board.Last.Runs()) }

// hundredths formats a percentage with two digits. Only none is 0, and only all is 100.
func hundredths(some, all uint64) string {
	switch part := 100 * float64(some) / float64(max(1, all)); {
	case some == 0:
		return "0"
	case part < 0.01:
		return "< 0.01"
	case part < 9.95:
		return fmt.Sprintf("%.2g", part)
	case some < all:
		return fmt.Sprintf("%.0f", min(part, 99))
	}
	return "100"
}

// figure is a row of the table behind the charts.
type figure struct {
	At                         time.Time
	Completed, Failed, Refused uint64
	Half, Most                 time.Duration // lateness
	Late                       bool          // the lateness is known
}

// Figures returns the steps with runs, latest first.
func (s *shown) Figures() (all []figure) {
	for i := len(s.series.Steps) - 1; i >= 0; i-- {
		m := &s.series.Steps[i]
		if m.Runs() == 0 && m.Attempts == 0 {
			continue
		}
		f := figure{At: s.series.At(i), Completed: m.Completed, Failed: m.Failed, Refused: m.Refused}
		f.Half, f.Late = m.Lateness.Quantile(0.5)
		f.Most, _ = m.Lateness.Quantile(0.99)
		all = append(all, f)
	}
	return all
}

// Clock formats a time of the charts in the zone of the browser.
func (s *shown) Clock(t time.Time) string {
	if s.series.Length() > 24*time.Hour {
		return words.Date(t.In(s.Range.Zone), words.Text("date.day")+" 15:04")
	}
	return t.In(s.Range.Zone).Format("15:04")
}
