package index

import (
	"context"
	"hash/crc32"
	"slices"
	"time"
	"unique"

	"github.com/carillon-sched/carillon/scheduler"
)

// edited is how long after a definition's change the baton may still follow the previous definition: an edit stores the
// definition, then moves the baton. If the process stops in between, the baton stays outdated for longer, and the index
// cannot detect this.
const edited = time.Minute

// readMost limits the jobs per read: the store looks up 512 batons in a request.
const readMost = 512

// Refresh reads those of the hits whose data is too old for the query.
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

// version is the state of a record before a read.
type version struct {
	key      scheduler.Key
	revision uint64
	at       int64
}

// versions returns the jobs that meet a condition.
func (x *Index) versions(keys []scheduler.Key, are func(*record) bool) (of []version, left []scheduler.Key) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, k := range keys {
		if r := x.get(k); r != nil && are(r) {
			of, left = append(of, version{k, r.revision, r.at}), append(left, k)
		}
	}
	return of, left
}

// valid returns the record, or nil if the index has heard of a later definition.
func (x *Index) valid(v version) *record {
	r := x.get(v.key)
	if r == nil || r.revision != v.revision {
		return nil
	}
	return r
}

// read looks up the changed definitions of some jobs, and their batons.
func (x *Index) read(ctx context.Context, keys []scheduler.Key) error {
	sought, names := x.versions(keys, func(r *record) bool { return r.flags&changed != 0 })
	if len(sought) > 0 {
		if err := x.cfg.Store.LoadJobs(ctx, names, func(st scheduler.Stored) { x.take(st, false, false) }); err != nil {
			return err
		}
		x.miss(sought)
	}
	sought, names = x.versions(keys, func(r *record) bool { return r.flags&changed == 0 && r.state == enabled })
	if len(sought) == 0 {
		return nil
	}
	batons := make(map[scheduler.Key]baton, len(sought))
	err := x.cfg.Store.FindBatons(ctx, names, func(st scheduler.Stored, running bool) {
		if _, waiting := batons[st.Key]; !waiting || !running { // a waiting one replaces a running one
			batons[st.Key] = batonOf(st)
		}
	})
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, v := range sought {
		if r := x.valid(v); r != nil && r.at == v.at && r.state == enabled {
			x.arm(r, batons[v.key])
		}
	}
	return nil
}

// miss removes jobs whose definitions the store did not find. It waits while a replica of the store may lag behind.
func (x *Index) miss(sought []version) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, v := range sought {
		switch r := x.valid(v); {
		case r == nil || r.flags&changed == 0:
		case x.since(r.at) >= edited:
			x.remove(r)
		default:
			x.tally(r, -1)
			r.paused = 0
			x.mark(r, r.flags|missing)
		}
	}
}

// define updates a record from the definition.
func (x *Index) define(r *record, revision uint64, summary *scheduler.Summary) {
	x.tally(r, -1)
	r.labels, r.does = labelSet(summary.Labels), unique.Make(call{summary.Action, summary.Address, summary.Target})
	r.tag, r.revision, r.state, r.next, r.paused = tagOf(summary.Incarnation), revision, stateOf(summary.State), 0, 0
	r.hears = summary.Triggered
	if !summary.PausedUntil.IsZero() {
		r.paused = summary.PausedUntil.UnixMilli()
	}
	x.tally(r, 1)
	f := r.flags &^ (changed | missing)
	switch {
	case r.state != enabled:
		f = 0
		e := endingOf(&summary.Progress, nil)
		r.last, r.ended = e.last, e.ended
	case !x.ready:
		r.at = x.clock()
		if time.Since(summary.Updated) < edited {
			f |= moved
		}
	}
	x.mark(r, f)
}

// baton is the part of a job's baton that the index uses.
type baton struct {
	lastRun

	next     int64
	revision uint64 // of the definition that armed it
	tag      uint16 // of the incarnation; 0: any
}

// batonOf decodes a baton. An unreadable baton may run at any time.
func batonOf(st scheduler.Stored) baton {
	b, err := scheduler.DecodeBaton(st.Data)
	if err != nil {
		return baton{}
	}
	next := b.MayRun()
	if b.NeedsOpen() && !b.Nominal.Before(scheduler.EndOfTime) { // only events start the job: it is the end of its trigger
		next = b.Nominal
	}
	return baton{endingOf(&b.Progress, &b), max(next.UnixMilli(), 1), b.Revision, tagOf(b.UID)}
}

// tagOf returns a hash of an incarnation, which distinguishes a job's baton from one of an earlier job with the same
// name; 0 for none.
func tagOf(incarnation string) uint16 {
	if incarnation == "" {
		return 0
	}
	sum := crc32.ChecksumIEEE([]byte(incarnation))
	return max(uint16(sum^sum>>16), 1)
}

// arm updates a record from the baton; the zero baton means none.
func (x *Index) arm(r *record, b baton) {
	if b.tag != 0 && r.tag != 0 && b.tag != r.tag {
		b = baton{}
	}
	if b.ended != untold || b.next != r.next || b.last != r.last {
		r.last, r.ended = b.last, b.ended
	} // else the index knows this baton, and may have asked the history
	r.next = b.next
	f := r.flags &^ unseen
	if b.next != 0 && b.revision == r.revision || x.since(r.at) >= edited { // the baton has followed the definition
		f &^= moved
	}
	x.mark(r, f)
	if f&moved == 0 {
		r.at = x.clock()
	}
}
