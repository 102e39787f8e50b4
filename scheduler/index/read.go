package index

import (
	"context"
	"hash/crc32"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// edited is how long after a change of a definition its baton may still be that of the one before: an edit stores the
// definition, and moves the baton then. A process that dies in between leaves the baton as it is for longer, and nothing
// that is shown says otherwise.
const edited = time.Minute

// readMost is how many jobs are read at once: the store looks up 512 batons in a request.
const readMost = 512

// reading is a job that is being read, as its record was before.
type reading struct {
	key  scheduler.Key
	told uint64
	at   uint32

	definition bool // is read, too
	deleted    bool // as its marker says, which is read instead of the definition
	running    bool // its baton is to be looked up
}

// Refresh reads those of the hits of which too little is known to tell, for what a query asks.
func (x *Index) Refresh(ctx context.Context, q *scheduler.JobQuery, hits []Hit) error {
	keys := make([]scheduler.Key, 0, len(hits))
	for _, h := range hits {
		if h.Stale {
			keys = append(keys, h.Key)
		}
	}
	for chunk := range slices.Chunk(keys, readMost) {
		if err := x.read(ctx, chunk); err != nil {
			return err
		}
	}
	if q.Outcome == "" {
		return nil
	}
	for chunk := range slices.Chunk(hits, readMost) {
		if err := x.readEndings(ctx, chunk); err != nil {
			return err
		}
	}
	return nil
}

// read reads what has to be read of some jobs: definitions that were changed, and batons.
func (x *Index) read(ctx context.Context, keys []scheduler.Key) error {
	readings := x.begin(keys)
	var definitions []scheduler.Key
	for i := range readings {
		if readings[i].definition {
			definitions = append(definitions, readings[i].key)
		}
	}
	found := make(map[scheduler.Key]scheduler.Stored, len(definitions))
	if len(definitions) > 0 {
		if err := x.cfg.Store.LoadJobs(ctx, definitions, func(st scheduler.Stored) { found[st.Key] = st }); err != nil {
			return err
		}
		x.takeDefinitions(readings, found)
	}
	return x.readBatons(ctx, readings)
}

// readBatons looks up the batons of those jobs whose readings ask for it.
func (x *Index) readBatons(ctx context.Context, readings []reading) error {
	var enabled []scheduler.Key
	for i := range readings {
		if readings[i].running {
			enabled = append(enabled, readings[i].key)
		}
	}
	if len(enabled) == 0 {
		return nil
	}
	batons := make(map[scheduler.Key]baton, len(enabled))
	err := x.cfg.Store.FindBatons(ctx, enabled, func(st scheduler.Stored, running bool) {
		b := batonOf(st)
		if _, waiting := batons[st.Key]; !waiting || !running { // one that waits comes after one that runs
			batons[st.Key] = b
		}
	})
	if err == nil {
		x.takeBatons(readings, batons)
	}
	return err
}

// begin notes how the records of jobs are before they are read.
func (x *Index) begin(keys []scheduler.Key) []reading {
	x.mu.RLock()
	defer x.mu.RUnlock()
	readings := make([]reading, 0, len(keys))
	for _, k := range keys {
		s := x.shelves[k.Collection]
		if s == nil {
			continue
		}
		if r := s.find(k.Job); r != nil {
			readings = append(readings, reading{
				key: k, told: r.told, at: r.at, definition: r.flags&changed != 0, running: r.state == enabled && r.flags&changed == 0,
			})
		}
	}
	return readings
}

// takeDefinitions takes in definitions that were read. One that was not found may not be there yet, for a replica of the
// store that lags behind; it is forgotten when it was not changed for a while.
func (x *Index) takeDefinitions(readings []reading, found map[scheduler.Key]scheduler.Stored) {
	summaries := make(map[scheduler.Key]scheduler.Summary, len(found))
	for k, st := range found {
		summaries[k] = scheduler.Summarize(st)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := range readings {
		it := &readings[i]
		s := x.shelves[it.key.Collection]
		if !it.definition || s == nil {
			continue
		}
		r := s.find(it.key.Job)
		if r == nil {
			continue
		}
		st, there := found[it.key]
		switch {
		case it.deleted && r.told == it.told:
			x.remove(s, it.key.Job)
		case there && st.Revision >= r.told:
			summary := summaries[it.key]
			x.define(s, it.key.Job, r, st.Revision, &summary)
			it.told, it.at, it.running = r.told, r.at, r.state == enabled
		case !there && r.told == it.told && x.since(r.at) >= edited:
			x.remove(s, it.key.Job)
		case !there && r.told == it.told:
			r.flags |= missing
		}
	}
	x.tidy()
}

// since is how long ago a record was touched.
func (x *Index) since(at uint32) time.Duration { return time.Duration(x.clock()-at) * time.Millisecond }

// define fills a record with what its definition says.
func (x *Index) define(s *shelf, name string, r *record, revision uint64, summary *scheduler.Summary) {
	s.pause(name, summary.PausedUntil)
	x.labels.release(r.labels)
	r.labels = x.labels.use(summary.Labels)
	target := x.targets.use(summary.Address)
	x.targets.release(r.target)
	r.target = target
	r.action, r.tag, r.told = x.actions.number(summary.Action), tagOf(summary.Incarnation), revision
	s.set(r, stateOf(summary.State))
	r.flags &^= changed | missing
	r.next = 0
	if r.state != enabled {
		r.flags = 0
		e := endingOf(&summary.Progress, nil)
		r.last, r.ended = e.last, e.ended
	}
}

// tidy makes the labels anew when most of those that are kept are of no use.
func (x *Index) tidy() {
	if !x.labels.wasteful() {
		return
	}
	fresh := newLabels()
	for r := range x.records() {
		r.labels = fresh.use(x.labels.of(r.labels))
	}
	x.labels = fresh
}

// baton is what the index needs to know of a job's baton.
type baton struct {
	ending

	next     int64
	revision uint64 // of the definition that it was armed with
	tag      uint16 // of the incarnation; 0: of any
}

// batonOf reads a baton. What cannot be read is one that may run at any time.
func batonOf(st scheduler.Stored) baton {
	b, err := scheduler.DecodeBaton(st.Data)
	if err != nil {
		return baton{}
	}
	return baton{endingOf(&b.Progress, &b), max(b.MayRun().UnixMilli(), 1), b.Revision, tagOf(b.UID)}
}

// tagOf is a hash of an incarnation, to tell a job's baton from one that an earlier job of the name has left; 0 for none.
func tagOf(incarnation string) uint16 {
	if incarnation == "" {
		return 0
	}
	sum := crc32.ChecksumIEEE([]byte(incarnation))
	return max(uint16(sum^sum>>16), 1)
}

// takeBatons takes in what was found of the batons of jobs, unless these were touched meanwhile.
func (x *Index) takeBatons(readings []reading, found map[scheduler.Key]baton) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := range readings {
		it := &readings[i]
		s := x.shelves[it.key.Collection]
		if !it.running || s == nil {
			continue
		}
		r := s.find(it.key.Job)
		if r == nil || r.told != it.told || r.at != it.at || r.state != enabled {
			continue
		}
		x.place(r, found[it.key], r.flags&moved == 0 || x.since(r.at) >= edited)
	}
}

// place fills a record with what its baton says, the zero one if there is none. settled says that the baton does not
// follow a change of the definition any more.
func (x *Index) place(r *record, b baton, settled bool) {
	if b.tag != 0 && r.tag != 0 && b.tag != r.tag {
		b = baton{}
	}
	if b.ended != untold || b.next != r.next || b.last != r.last {
		r.last, r.ended = b.last, b.ended
	} // else it is the baton that was known, and its history may have been asked
	r.next = b.next
	r.flags &^= unseen
	if b.next != 0 && b.revision == r.told || settled {
		r.flags &^= moved
	}
	if r.flags&moved == 0 {
		r.at = x.clock()
	}
}
