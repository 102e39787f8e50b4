// Package overview is the console's first page: what runs, what is due, what failed, and how the scheduler is.
//
// Who may read all collections sees what all schedulers do together. Anybody else sees the numbers of the collections that
// they may read, as far as there are such numbers, and of the attempts under way those of their jobs: sums over all jobs,
// the names of targets, the schedulers themselves and what an audit found are for the former, as GET /metrics is.
package overview

import (
	"context"
	"embed"
	"io/fs"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/pulse"
	"github.com/carillon-sched/carillon/scheduler/service"
)

//go:embed *.html
var files embed.FS

//go:embed assets
var assets embed.FS

var page = frame.Templates(files, "*.html")

// Source tells what all schedulers of a store do. It is asked often: it keeps its answers for a moment.
type Source interface {
	// Board tells what all of them have done, and do. With an error it is of the one that is asked, and of what it knew of
	// the others.
	Board(ctx context.Context) (*pulse.Board, error)

	// Load tells how much there is to do.
	Load(ctx context.Context) (scheduler.Load, error)
}

type room struct {
	service *service.Service
	source  Source // nil: there is none
	due     *census
}

// Paths of the page, beside that of its live parts.
const (
	path       = "/"
	eventsPath = frame.Root + "/overview/events"
)

// Room returns the page.
func Room(s *service.Service, source Source) frame.Room {
	own, err := fs.Sub(assets, "assets")
	if err != nil {
		panic(err)
	}
	r := room{s, source, &census{count: func(ctx context.Context) (service.Due, bool, error) { return s.Due(ctx, nil, lengths...) }}}
	return frame.Room{Name: "overview", Path: path, Key: "o", Right: access.ReadAny, Assets: own, Routes: []frame.Route{
		{Method: http.MethodGet, Path: path + "{$}", Right: access.ReadAny, Do: r.show},
		{Method: http.MethodGet, Path: eventsPath, Right: access.ReadAny, Do: r.events, Live: true},
	}}
}

// The parts that live, by the ids of their elements and the names of their templates.
var (
	partsOfAll    = []string{"trouble", "cards"}                      // that are there whoever asks, and whatever is known
	partsOfTold   = []string{"running", "failures"}                   // where there is a [Source]
	partsOfWhole  = []string{"targets", "lanes", "replicas", "audit"} // and who asks may read all collections
	partsOfCharts = []string{"runs", "lateness"}                      // likewise: these are large, and change little by little
	partsOfTables = []string{"figures"}                               // and these more so
)

// parts are those of a page that may have changed, at a turn.
func (s *shown) parts(turn int) []string {
	ids := slices.Clone(partsOfAll)
	if !s.Told {
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

// The rhythm of the live parts.
const (
	turnEvery = time.Second
	chartTurn = 5 // turns
	tableTurn = 20
)

func (r room) show(c *frame.Call) error {
	s, err := r.look(c, nil)
	if err != nil {
		return err
	}
	return c.Show(&frame.Page{
		Title: c.Say("overview.menu"), Template: page, Data: s, Styles: []string{"overview/overview.css"},
	})
}

// events sends what changes.
func (r room) events(c *frame.Call) error {
	l := c.Live()
	tick := time.NewTicker(turnEvery)
	defer tick.Stop()
	spoke := time.Now()
	var before *shown
	for n := 0; ; n++ {
		s, err := r.look(c, before)
		if err != nil {
			s = r.nothing(c, err)
		}
		ids := s.parts(n)
		if err != nil {
			ids = ids[:1] // what else is there stays
		}
		before = s
		for _, id := range ids {
			if err := l.Part(id, page, id, s); err != nil {
				return nil // the browser has gone
			}
		}
		if time.Since(spoke) >= frame.Beat {
			spoke = time.Now()
			if l.StillThere() != nil {
				return nil
			}
		}
		select {
		case <-tick.C:
		case <-c.Context().Done():
			return nil
		}
	}
}

// census keeps how many jobs are due, for all who may read all collections. It is safe for concurrent use.
type census struct {
	count func(context.Context) (service.Due, bool, error)

	mu    sync.Mutex
	last  *counted
	under chan struct{} // closed when a count that is under way ends; nil: there is none
}

// counted is what a census has found.
type counted struct {
	at    time.Time
	due   service.Due
	known bool
	err   error
}

// The bounds of a count.
const (
	dueKept = 2 * time.Second // it is for all who look
	dueLate = time.Minute     // after which nobody is shown it

	dueWait = 20 * time.Millisecond // how long a page waits for a new one
)

// lengths are those of the cards.
var lengths = []time.Duration{time.Minute, time.Hour}

// ask tells how many jobs are due. Where that takes longer than a page may wait, it is what was counted last; known is
// false when that is nothing.
func (k *census) ask(ctx context.Context) (due service.Due, known bool, err error) {
	k.mu.Lock()
	c := k.last
	if c == nil || time.Since(c.at) >= dueKept {
		k.begin(ctx)
	}
	under := k.under
	k.mu.Unlock()
	if under == nil {
		return c.due, c.known, c.err
	}
	usable := c != nil && c.err == nil && time.Since(c.at) < dueLate
	late := time.NewTimer(dueWait)
	defer late.Stop()
	select {
	case <-under:
		k.mu.Lock()
		c, usable = k.last, true
		k.mu.Unlock()
	case <-late.C:
	case <-ctx.Done():
	}
	if !usable {
		return due, false, nil
	}
	return c.due, c.known, c.err
}

// begin counts, unless somebody does already.
func (k *census) begin(ctx context.Context) {
	if k.under != nil {
		return
	}
	done := make(chan struct{})
	k.under = done
	go func() {
		defer close(done)
		c := &counted{}
		c.due, c.known, c.err = k.count(context.WithoutCancel(ctx))
		c.at = time.Now()
		k.mu.Lock()
		defer k.mu.Unlock()
		k.last, k.under = c, nil
	}()
}
