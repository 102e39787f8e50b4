package worker

import (
	"unique"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/cache"
)

// pack makes r, which is about to be held, keep its definition in encoded form if many runs are held. It returns false
// if it did not take the definition.
func (w *Worker) pack(r *run, read cache.Read) bool {
	if !w.held().Packs() || !r.baton.Packs(read.Job) {
		return false
	}
	body := r.delivery.Body
	data := make([]byte, 0, len(body)+len(read.Data)) // one allocation, without the messages that contain them
	data = append(append(data, body...), read.Data...)
	r.delivery.Body = data[:len(body):len(body)]
	r.packed = &scheduler.Packed{
		Revision: read.Revision, Target: unique.Make(read.Job.Def.Action.Run.Target()).Value(), Data: data[len(body):],
	}
	r.since = read.Changes
	return true
}

// unpack decodes r's baton and its definition from their encoded form.
func (w *Worker) unpack(r *run) (*scheduler.Job, error) {
	p := r.packed
	r.unpackBaton()
	return w.jobs.Unpack(r.key(), p)
}

// unpackBaton decodes r's baton. Its definition is read on demand.
func (r *run) unpackBaton() {
	b, _ := scheduler.DecodeBaton(r.delivery.Body) // as it was delivered
	r.packed, r.course = nil, &course{baton: b}
}

// dueAndPacked is called when an encoded run is due. If its job has not changed, the worker decides about it when it
// has a slot.
func (w *Worker) dueAndPacked(r *run) {
	if !w.jobs.Unchanged(r.key(), r.since) {
		r.unpackBaton()
		w.liveOn(admitted{r})
		return
	}
	r.Target = r.packed.Target
	w.queue(r)
}

// open decodes the definition of an encoded run and makes the decision of its due time. It returns false if the run
// must be decided again.
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
