package worker

import (
	"unique"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/cache"
)

// pack has r, when it is about to be held, keep its definition as it is stored, if
// there are many. False means that it was not taken.
func (w *Worker) pack(r *run, read cache.Read) bool {
	if !w.held().Packs() || !r.baton.Packs(read.Job) {
		return false
	}
	body := r.delivery.Body
	data := make([]byte, 0, len(body)+len(read.Data)) // one piece, without the messages that they are part of
	data = append(append(data, body...), read.Data...)
	r.delivery.Body = data[:len(body):len(body)]
	r.packed = &scheduler.Packed{
		Revision: read.Revision, Target: unique.Make(read.Job.Def.Action.Run.Target()).Value(), Data: data[len(body):],
	}
	r.since = read.Changes
	return true
}

// unpack reads r's baton again, and its definition, as they were when it was packed.
func (w *Worker) unpack(r *run) (*scheduler.Job, error) {
	p := r.packed
	r.unpackBaton()
	return w.jobs.Unpack(r.key(), p)
}

// unpackBaton reads r's baton again. Its definition is read anew by who needs it.
func (r *run) unpackBaton() {
	b, _ := scheduler.DecodeBaton(r.delivery.Body) // as when it came
	r.packed, r.course = nil, &course{baton: b}
}

// dueAndPacked is called when a baton is due that was packed while it was held. When
// its job has not changed, nothing is to be decided before it has a slot.
func (w *Worker) dueAndPacked(r *run) {
	if !w.jobs.Unchanged(r.key(), r.since) {
		r.unpackBaton()
		w.liveOn(admitted{r})
		return
	}
	r.Target = r.packed.Target
	w.queue(r)
}

// open reads the definition of a run that was packed until now, and decides what was to
// be decided when it fell due. False means that it is to be decided anew.
func (w *Worker) open(r *run) bool {
	due := w.cfg.Store.Now()
	due = due.Add(-r.Waited(due))
	j, err := w.unpack(r)
	if err != nil {
		return false
	}
	d := scheduler.Decide(j, w.cfg.Collections.Open(r.key().Collection), r.baton, due)
	if d.Verdict != scheduler.Run || d.Later || len(d.Records) > 0 {
		return false
	}
	r.baton, r.latest = d.Baton, j
	r.use(w.definition(&r.baton, j))
	return true
}
