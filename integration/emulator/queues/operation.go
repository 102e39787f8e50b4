package queues

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/browse"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/words"
)

// Operations on many messages.
const (
	verbPurge    = "purge"
	verbResubmit = "resubmit"
)

// An operation on many messages continues after the response to its request. The fields above mu are immutable.
type operation struct {
	ID, Verb, Path string
	Part           browse.Part
	Count          int64 // of messages when it began
	cancel         func()
	over           chan struct{} // closed when it has ended

	mu      sync.Mutex
	tally   browse.Tally
	err     error
	began   time.Time
	ended   time.Time // zero: in progress
	stopped bool
}

// Back is where its messages are.
func (o *operation) Back() string { return address("/entity", "at", o.Path, "part", string(o.Part)) }

// note takes how far it is.
func (o *operation) note(t browse.Tally) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tally = t
}

// end notes that it has ended.
func (o *operation) end(t browse.Tally, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tally, o.err, o.ended = t, err, time.Now()
	close(o.over)
}

// stop has it leave the rest alone.
func (o *operation) stop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended.IsZero() {
		o.stopped = true
		o.cancel()
	}
}

// progress is the displayed state of an operation.
type progress struct {
	*operation

	Tally   browse.Tally
	Why     string // the first was refused
	Seen    int
	Ended   time.Time
	Stopped bool
	Problem string
}

func (o *operation) progress(c *frame.Request) progress {
	o.mu.Lock()
	defer o.mu.Unlock()
	p := progress{operation: o, Tally: o.tally, Seen: o.tally.Done + o.tally.Held + o.tally.Refused, Ended: o.ended, Stopped: o.stopped}
	if o.tally.Why != nil {
		p.Why = reason(o.tally.Why)
	}
	if o.err != nil && !o.stopped {
		p.Problem = c.Describe(problem(c, o.err)).Text
	}
	if errors.Is(o.err, context.Canceled) && !o.stopped {
		p.Problem = c.Text("queues.operation.right")
	}
	return p
}

// operations are the operations of a process.
type operations struct {
	mu sync.Mutex
	of map[string]*operation
}

// Limits: operations in progress, and the number and age of completed operations to keep.
const (
	maxRunning = 16
	maxKept    = 200
	keptFor    = time.Hour
)

// add adds an operation, unless too many are in progress.
func (s *operations) add(o *operation) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	running := 0
	var oldest *operation
	for id, other := range s.of {
		other.mu.Lock()
		ended, began := other.ended, other.began
		other.mu.Unlock()
		switch {
		case ended.IsZero():
			running++
		case time.Since(ended) > keptFor:
			delete(s.of, id)
		case oldest == nil || began.Before(oldest.began):
			oldest = other
		}
	}
	if running >= maxRunning {
		return false
	}
	if len(s.of) >= maxKept && oldest != nil {
		delete(s.of, oldest.ID)
	}
	s.of[o.ID] = o
	return true
}

// patience limits the wait of a request for its operation; most end sooner.
const patience = 700 * time.Millisecond

// start starts an operation. If it ends soon, the page of its messages shows the result; otherwise a page shows
// the progress.
func (r *section) start(
	c *frame.Request, verb string, b browse.Batch, do func(ctx context.Context, b browse.Batch) (browse.Tally, error),
) error {
	e, err := r.at(c, b.Path)
	if err != nil {
		return err
	}
	o := &operation{
		ID: rand.Text(), Verb: verb, Path: e.Path, Part: b.Part, Count: countOf(e, b.Part), began: time.Now(), over: make(chan struct{}),
	}
	if len(b.Only) > 0 {
		o.Count = int64(len(b.Only))
	}
	ctx, end := c.Background(auth.Operate)
	o.cancel = end
	if !r.operations.add(o) {
		end()
		return frame.Problem{Status: http.StatusTooManyRequests, Text: c.Text("queues.operation.many")}
	}
	go func() {
		defer end()
		b.Note = o.note
		o.end(frame.Guarded(c, func() (browse.Tally, error) { return do(ctx, b) }))
	}()
	soon := time.NewTimer(patience)
	defer soon.Stop()
	select {
	case <-soon.C:
	case <-c.Context().Done():
	case <-o.over:
		p := o.progress(c)
		if p.Problem == "" && p.Tally.Refused == 0 {
			note := many(c, "queues."+o.Verb+".done", p.Tally.Done)
			if p.Tally.Held > 0 {
				note += " " + many(c, "queues."+o.Verb+".held", p.Tally.Held)
			}
			return c.Done(note, o.Back())
		}
	}
	return c.Redirect(o.address())
}

func (o *operation) address() string { return address("/operation", "id", o.ID) }

// operationOf returns the operation that a request is about.
func (r *section) operationOf(c *frame.Request, named func(string) string) (*operation, error) {
	r.operations.mu.Lock()
	defer r.operations.mu.Unlock()
	if o := r.operations.of[named("id")]; o != nil {
		return o, nil
	}
	return nil, frame.Problem{
		Status: http.StatusNotFound, Text: c.Text("queues.operation.gone"), Hint: c.Text("queues.operation.gone.hint"),
	}
}

// operation shows how far one is.
func (r *section) operation(c *frame.Request, o *operation) error {
	return operationPage.show(c, 0, c.Text("queues."+o.Verb+".title.running", titled(o.Path)), o.progress(c))
}

// followOperation shows the progress live.
func (r *section) followOperation(c *frame.Request, o *operation) error {
	return operationPage.follow(c, func() (any, []string, error) { return o.progress(c), []string{"progress"}, nil })
}

// stopOperation ends an operation before it has processed all messages.
func (r *section) stopOperation(c *frame.Request, _ url.Values, o *operation) error {
	o.stop()
	return c.Redirect(o.address())
}

// confirmation asks for confirmation of an operation.
type confirmation struct {
	Steps              [][2]string // back to where it is
	Text, Hint, Button string
	Danger             bool  // deletes something
	Count              int64 // of what something is done to; 0: there is nothing to do
	Action             string
	Fields             [][2]string
	Back               string
	Topic              string   // a choice of where dead letters go
	Into               []string // a choice of queues to move messages into
	To                 string   // the preselected one
}

// confirmEntity is a confirmation of something done to an entity.
func confirmEntity(e browse.Entity) confirmation {
	return confirmation{Steps: crumbs(e), Back: address("/entity", "at", e.Path), Count: 1, Fields: [][2]string{{"at", e.Path}}}
}

// confirmQueue is a confirmation of something done to a storage queue.
func confirmQueue(q storagequeue.QueueStatus) confirmation {
	return confirmation{
		Steps: storeCrumbs(q), Back: storeAddress(q), Count: 1, Fields: [][2]string{{"account", q.Account}, {"queue", q.Name}},
	}
}

// ask shows the confirmation.
func (v confirmation) ask(c *frame.Request, title string) error {
	return confirmPage.show(c, 0, title, v)
}

// many returns the text of a key for a number: the part before | for one, the part after it, with the number,
// for others.
func many[N int | int64](c *frame.Request, key string, n N, args ...any) string {
	one, more, _ := strings.Cut(c.Text(key), "|")
	if n == 1 {
		return fmt.Sprintf(one, args...)
	}
	return fmt.Sprintf(more, append([]any{words.Number(n)}, args...)...)
}

// picked are the messages that were marked; none for all.
func picked(c *frame.Request, texts []string) ([]int64, error) {
	var all []int64
	for _, text := range texts {
		n, err := number(c, text)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}

// noneMarked refuses to do something to messages that were to be marked, and were not.
func noneMarked(c *frame.Request) error {
	return frame.Problem{Status: http.StatusBadRequest, Text: c.Text("queues.marked.none"), Hint: c.Text("queues.marked.none.hint")}
}

// confirm asks for confirmation of an operation on all messages of a part, or on the selected ones.
func (r *section) confirm(c *frame.Request, e browse.Entity, verb string) error {
	marked, err := picked(c, c.Params("n")["n"])
	if err != nil {
		return err
	}
	part, wanted := partAsked(c), c.Query("marked") != ""
	v := confirmEntity(e)
	v.Hint, v.Action, v.Danger = c.Text("queues."+verb+".hint"), Path+"/"+verb, verb == verbPurge
	v.Count, v.Back = countOf(e, part), address("/entity", "at", e.Path, "part", string(part))
	v.Fields = append(v.Fields, [2]string{"part", string(part)}, [2]string{"all", checked})
	key, title := "queues."+verb+"."+string(part), "queues."+verb+".title.running"
	switch {
	case len(marked) > 0:
		v.Count, key, title = int64(len(marked)), "queues."+verb+".marked", cmp.Or(markedTitles[verb], title)
	case wanted:
		return noneMarked(c)
	case verb == verbResubmit:
		key = "queues.resubmit.all"
	}
	for _, n := range marked {
		v.Fields = append(v.Fields, [2]string{"n", strconv.FormatInt(n, 10)})
	}
	v.Button = many(c, "queues."+verb+".button", v.Count)
	if verb == verbResubmit {
		v.Topic = e.Topic
	}
	if v.Text = many(c, key, v.Count, e.Path); v.Count == 0 {
		v.Text = c.Text("queues."+verb+".none", e.Path, c.Text("queues.part."+string(part)))
	}
	return v.ask(c, c.Text(title, titled(e.Path)))
}

// markedTitles are the titles of operations on selected messages, where those on all have another title.
var markedTitles = map[string]string{verbPurge: "queues.storemessages.delete.title"}

func (r *section) confirmPurge(c *frame.Request, e browse.Entity) error {
	return r.confirm(c, e, verbPurge)
}

// countOf returns the number of messages of a part.
func countOf(e browse.Entity, part browse.Part) int64 {
	for _, t := range tabs(e, part) {
		if t.Part == part {
			return t.Count
		}
	}
	return 0
}
