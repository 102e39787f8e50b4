package jobs

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/access"
)

// What can be done to many jobs.
const (
	enable  = "enable"
	disable = "disable"
	run     = "run"
	remove  = "delete"
	label   = "label"
	unlabel = "unlabel"
	pause   = "pause"
)

// verbs are those that need nothing but jobs.
var verbs = []string{enable, disable, run, remove}

// operation is what somebody asked to be done to many jobs. What is above mu does not change.
type operation struct {
	ID    string
	owner string
	Do    string
	Label scheduler.Label
	Until string          // of pause, as it was typed
	Keys  []scheduler.Key // that were picked; or
	Query *scheduler.JobQuery
	Count int // how many there were when it was asked
	Asked time.Time

	mu      sync.Mutex
	began   time.Time // zero: it is not confirmed
	ended   time.Time
	stopped bool
	rest    string // why the rest was left alone; "" when there is none
	cancel  context.CancelFunc
	counts  map[verdict]int
	refused []result // and those that were gone, as they came
	done    []result // the last ones
}

// verdict is what became of a job.
type verdict string

const (
	done      verdict = "done"
	unchanged verdict = "unchanged" // it was so already
	gone      verdict = "gone"
	refused   verdict = "refused"
)

// verdicts are those that are counted, in the order in which they are shown.
var verdicts = []verdict{done, unchanged, gone, refused}

// result is what became of a job.
type result struct {
	Key     scheduler.Key
	Verdict verdict
	Why     string
}

// The results that are kept of an operation; all are counted.
const (
	refusedKept = 2000
	doneKept    = 200
)

// note takes what became of a job.
func (o *operation) note(r result) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.counts[r.Verdict]++
	switch {
	case r.Verdict == done || r.Verdict == unchanged:
		o.done = append(o.done, r)
		if len(o.done) > 2*doneKept {
			o.done = slices.Clone(o.done[len(o.done)-doneKept:])
		}
	case len(o.refused) < refusedKept:
		o.refused = append(o.refused, r)
	}
}

// begin begins it, if nobody has.
func (o *operation) begin(cancel context.CancelFunc) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.began.IsZero() {
		return false
	}
	o.began, o.cancel = time.Now(), cancel
	return true
}

// confirmed is when it began; zero: it has not.
func (o *operation) confirmed() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.began
}

// stop ends it early. One that is not confirmed never begins.
func (o *operation) stop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.ended.IsZero() {
		return
	}
	o.stopped = true
	if o.began.IsZero() {
		o.began = time.Now()
		o.ended = o.began
		return
	}
	o.cancel()
}

// end notes that it has ended. rest is why the rest was left alone, if there is any.
func (o *operation) end(rest string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended, o.rest = time.Now(), rest
}

// progress is an operation at a moment, as it is shown.
type progress struct {
	ID            string
	Do            string
	Label         scheduler.Label
	Until         string
	Asked         time.Time
	Count         int
	All           bool
	Began, Ended  time.Time
	Stopped       bool
	Rest          string
	Seen          int // how many have been worked on
	Counts        []counted
	Refused, Done []result
	LeftOut       int // results that are not shown
	Confirms      bool
	Wrong         bool // what was typed to confirm it
	Samples       []scheduler.Key
	Others        int // besides the samples
	MayNot        int // of those that were picked
}

// counted is how often a verdict was given.
type counted struct {
	Verdict verdict
	N       int
}

// shownResults is how many results of a kind a page has.
const shownResults = 200

func (o *operation) progress() progress {
	o.mu.Lock()
	defer o.mu.Unlock()
	p := progress{
		ID: o.ID, Do: o.Do, Label: o.Label, Until: o.Until, Asked: o.Asked, Count: o.Count, All: o.Query != nil,
		Began: o.began, Ended: o.ended, Stopped: o.stopped, Rest: o.rest, Confirms: o.Do == remove,
	}
	for _, v := range verdicts {
		p.Seen += o.counts[v]
		if o.counts[v] > 0 {
			p.Counts = append(p.Counts, counted{v, o.counts[v]})
		}
	}
	p.Refused = slices.Clone(o.refused[max(0, len(o.refused)-shownResults):])
	p.Done = slices.Clone(o.done[max(0, len(o.done)-shownResults):])
	slices.Reverse(p.Done)
	p.LeftOut = p.Seen - len(p.Refused) - len(p.Done)
	return p
}

// operations are those of a process.
type operations struct {
	process string // begins their ids, which tells them from those of other processes

	mu sync.Mutex
	of map[string]*operation
}

// How long operations are kept, how many of one person, and how many of these are under way at once.
const (
	askedKept   = time.Hour // until it is confirmed
	endedKept   = time.Hour
	ownMost     = 20
	runningMost = 8
)

func newOperations() *operations {
	return &operations{process: rand.Text()[:8], of: map[string]*operation{}}
}

// own reports whether an id was given by this process.
func (s *operations) own(id string) bool {
	process, _, _ := strings.Cut(id, "-")
	return process == s.process
}

// add keeps an operation, and forgets those that are over. The oldest of its owner that does not run makes room.
func (s *operations) add(o *operation) {
	o.ID, o.Asked, o.counts = s.process+"-"+rand.Text(), time.Now(), map[verdict]int{}
	s.mu.Lock()
	defer s.mu.Unlock()
	var oldest *operation
	own := 0
	for id, other := range s.of {
		idle, running := other.idle()
		if !running && idle > endedKept {
			delete(s.of, id)
			continue
		}
		if other.owner == o.owner {
			own++
			if !running && (oldest == nil || other.Asked.Before(oldest.Asked)) {
				oldest = other
			}
		}
	}
	if own >= ownMost && oldest != nil {
		delete(s.of, oldest.ID)
	}
	s.of[o.ID] = o
}

// busy reports whether as many operations of somebody are under way as may be.
func (s *operations) busy(owner string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, o := range s.of {
		if _, running := o.idle(); running && o.owner == owner {
			n++
		}
	}
	return n >= runningMost
}

// idle is for how long nothing has become of it.
func (o *operation) idle() (idle time.Duration, running bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.began.IsZero():
		return time.Since(o.Asked) + endedKept - askedKept, false
	case o.ended.IsZero():
		return 0, true
	}
	return time.Since(o.ended), false
}

// get returns an operation of somebody, nil when there is none.
func (s *operations) get(id, owner string) *operation {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.of[id]
	if o == nil || o.owner != owner {
		return nil
	}
	return o
}

// ownerOf is whose an operation is.
func ownerOf(p *access.Principal) string {
	if p.ID == "" && p.Name == "" {
		return p.Via + " " + p.Address
	}
	return p.Via + " " + p.ID + " " + p.Name
}
