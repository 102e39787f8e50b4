package overview

import (
	"context"
	"embed"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/failures"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/look"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/stats"
)

//go:embed *.html
var files embed.FS

//go:embed assets
var assets embed.FS

var page = failures.With(frame.Templates(files, "*.html"))

// Source provides the activity of all schedulers of a store. It caches its answers briefly, so frequent calls are
// cheap.
type Source interface {
	// Board returns the live statistics of all schedulers. With an error, it has the statistics of this scheduler, and the last
	// known ones of the others.
	Board(ctx context.Context) (*stats.Board, error)

	// Load returns the pending work.
	Load(ctx context.Context) (scheduler.Load, error)
}

type section struct {
	service *control.Service
	source  Source // nil: none
	due     *look.Looks[due]
}

// Paths of the page, in addition to the path of its live parts.
const (
	path       = "/"
	eventsPath = frame.Root + "/overview/events"
)

// Section returns the page.
func Section(s *control.Service, source Source) frame.Section {
	r := section{s, source, &look.Looks[due]{Age: dueKept, Kept: dueLate}}
	return frame.Section{Name: "overview", Path: path, Key: "o", Ranged: true, Right: auth.ReadAny, Assets: assets, Routes: []frame.Route{
		frame.Get(path+"{$}", auth.ReadAny, r.show),
		frame.Stream(eventsPath, auth.ReadAny, r.events),
	}}
}

// The live parts, by the ids of their elements and the names of their templates.
var (
	partsOfAll    = []string{"trouble", "cards"}                      // for all callers, always present
	partsOfTold   = []string{"running", "failures"}                   // if a [Source] exists
	partsOfWhole  = []string{"targets", "lanes", "replicas", "audit"} // if in addition the caller may read all collections
	partsOfCharts = []string{"runs", "lateness"}                      // under the same condition; large and slow to change
	partsOfTables = []string{"figures"}                               // under the same condition; larger and slower
)

// parts returns the parts that may have changed at a turn.
func (s *shown) parts(turn int) []string {
	ids := slices.Clone(partsOfAll)
	if !s.HasSource {
		return ids
	}
	ids = append(ids, partsOfTold...)
	if !s.All {
		return ids
	}
	ids = append(ids, partsOfWhole...)
	if turn%chartTurn == 0 {
		ids = append(ids, partsOfCharts...)
	}
	if turn%tableTurn == 0 {
		ids = append(ids, partsOfTables...)
	}
	return ids
}

// The update intervals of the live parts.
const (
	turnEvery = time.Second
	chartTurn = 5 // turns
	tableTurn = 20
)

func (r section) show(c *frame.Request) error {
	s, err := r.look(c, nil)
	if err != nil {
		return err
	}
	return c.Show(&frame.Page{
		Title: c.Text("overview.menu"), Template: page, Data: s, Range: s.Range, Styles: []string{"overview/overview.css", failures.Style},
	})
}

// events sends changed parts.
func (r section) events(c *frame.Request) error {
	l, turn := c.Live(), 0
	var before *shown
	return l.Every(turnEvery, func() error {
		s, err := r.look(c, before)
		if err != nil {
			s = r.nothing(c, err)
		}
		ids := s.parts(turn)
		if err != nil {
			ids = ids[:1] // the other parts stay
		}
		before = s
		turn++
		return l.Parts(page, s, ids...)
	})
}

// due is the number of due jobs, for callers with access to all collections.
type due struct {
	control.Due

	Known bool
}

// Limits of a count.
const (
	dueKept = 2 * time.Second // lifetime of a shared result
	dueLate = time.Minute     // maximum age of a shown result

	dueWait = 20 * time.Millisecond // how long a page waits for a new result
)

// lengths are the periods of the cards.
var lengths = []time.Duration{time.Minute, time.Hour}
