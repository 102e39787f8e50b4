package index

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"time"
	"unique"

	"github.com/klauspost/compress/zstd"

	"github.com/carillon-sched/carillon/scheduler"
)

// snapshotVersion increases when the format of snapshots changes, or when the index derives other values from definitions or
// batons.
const snapshotVersion = 1

const (
	// saveEvery is the interval of snapshots. No process replaces a snapshot younger than half of it, so several processes
	// together write at most twice as many.
	saveEvery = 30 * time.Minute

	// endPatience limits the snapshot at the end of Run.
	endPatience = 2 * time.Second

	zstdWindow = 4 << 20 // limits the memory of a load, in bytes
)

// page is a part of a snapshot, which is a stream of gobs, compressed with zstd.
type page struct {
	Version, Jobs int      // Jobs is approximately the number in all pages
	Revision      uint64   // the index knew all definitions up to it
	Lanes         []uint64 // and all batons up to these sequences
	Groups        []group
	Rows          []row // in order
}

// group is what jobs share.
type group struct {
	Collection string
	Labels     []scheduler.Label
	Call       call
}

// row is a [record], with an index into the groups.
type row struct {
	Name                string
	Group               uint32
	Revision            uint64
	Next, Last, Paused  int64
	Tag                 uint16
	State, Ended, Flags uint8
	Hears               bool
}

// save writes a snapshot, unless the stored one is recent. It calls pace between pages.
func (x *Index) save(ctx context.Context, pace func() error) {
	x.mu.RLock()
	p := packer{page: page{Version: snapshotVersion, Jobs: x.jobs.count, Revision: x.last, Lanes: x.lanes}, since: x.clock()}
	for k := range x.dirty { // a load reads these definitions in bulk
		if r := x.jobs.get(k); r.flags&changed != 0 && r.revision > 1 {
			p.Revision = min(p.Revision, r.revision-1)
		}
	}
	ready := x.ready && p.Jobs > 0
	x.mu.RUnlock()
	if !ready {
		return
	}
	err := x.cfg.Store.SaveSnapshot(ctx, saveEvery/2, func(w io.Writer) error {
		level := zstd.WithEncoderLevel(zstd.SpeedFastest)
		to, err := zstd.NewWriter(w, level, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(zstdWindow))
		gobs := gob.NewEncoder(to)
		for from, more := next(scheduler.Key{}), true; err == nil && more; {
			p.Groups, p.Rows, p.groups = nil, p.Rows[:0], map[shared]uint32{}
			x.mu.RLock()
			from, more = x.walkRange(from, nil, "", p.pack)
			x.mu.RUnlock()
			if err = gobs.Encode(p.page); err == nil {
				err = pace()
			}
		}
		return errors.Join(err, to.Close())
	})
	if err != nil && ctx.Err() == nil && !x.unsaved {
		x.cfg.Logger.Warn("the index of jobs has no current snapshot; searches stay slow for longer after a restart", "err", err)
	}
	x.unsaved = err != nil
}

// packer fills pages.
type packer struct {
	page

	since  int64 // on the clock of the index
	groups map[shared]uint32
}

type shared struct {
	collection unique.Handle[string]
	labels     unique.Handle[labels]
	does       unique.Handle[call]
}

// pack adds a job: only its name if a load must read the definition, because it was stored after the snapshot was begun, or the
// index may be wrong. It always returns true, to continue the walk.
func (p *packer) pack(r *record) bool {
	to, of := row{Name: r.name, Flags: uint8(changed | moved | unseen)}, shared{r.collection, noLabels, unique.Make(call{})}
	if r.flags&changed == 0 && r.revision <= p.Revision && r.state != unknown && r.state != damaged {
		of.labels, of.does = r.labels, r.does
		to = row{
			Name: r.name, Revision: r.revision, Next: r.next, Last: r.last, Paused: r.paused, Tag: r.tag, State: uint8(r.state),
			Ended: uint8(r.ended), Flags: uint8(r.flags &^ missing), Hears: r.hears,
		}
		if r.at >= p.since {
			to.Flags |= uint8(unseen)
		}
		if r.ended == nowhere { // the history may contain it by the time of a load
			to.Ended = uint8(untold)
		}
	}
	var known bool
	if to.Group, known = p.groups[of]; !known {
		to.Group = uint32(len(p.Groups))
		p.groups[of] = to.Group
		p.Groups = append(p.Groups, group{r.collection.Value(), of.labels.Value().list(), of.does.Value()})
	}
	p.Rows = append(p.Rows, to)
	return true
}

// load replaces the index by the snapshot, and returns the revision up to which the snapshot has all definitions. Without a valid
// snapshot, it returns false, and changes nothing.
func (x *Index) load(ctx context.Context) (after uint64, ok bool) {
	var jobs sorted
	var last page
	err := x.cfg.Store.LoadSnapshot(ctx, func(r io.Reader) (err error) {
		last, err = x.decode(r, &jobs)
		return err
	})
	if err != nil {
		x.cfg.Logger.Debug("the index of jobs has no snapshot to start from", "err", err)
		return 0, false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	noted := x.jobs
	x.jobs, x.lanes = jobs, last.Lanes
	for r := range x.jobs.all() {
		x.mark(r, r.flags)
		if r.paused > 0 {
			x.tally(r, 1)
		}
	}
	for r := range noted.all() {
		x.hear(r.full(), r.revision)
	}
	return last.Revision, true
}

// decode reads a snapshot to its end, where the store verifies it, and returns the last page.
func (x *Index) decode(r io.Reader, jobs *sorted) (last page, err error) {
	from, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow), zstd.WithDecoderLowmem(true))
	if err != nil {
		return last, err
	}
	defer from.Close()
	for gobs := gob.NewDecoder(from); ; {
		var p page
		if err := gobs.Decode(&p); errors.Is(err, io.EOF) && last.Version > 0 {
			return last, nil
		} else if err != nil || p.Version != snapshotVersion || len(p.Lanes) != x.cfg.Store.Lanes() || !p.unpack(jobs, x.clock()) {
			return last, errors.Join(errors.New("the snapshot is damaged, or of another version"), err)
		}
		x.built.Store(int32(50 * min(jobs.count, p.Jobs) / max(p.Jobs, 1)))
		last = p
	}
}

// unpack adds the jobs to a list. It returns false if one is invalid.
func (p *page) unpack(to *sorted, now int64) bool {
	groups := make([]shared, len(p.Groups))
	for i, g := range p.Groups {
		groups[i] = shared{unique.Make(g.Collection), labelSet(g.Labels), unique.Make(g.Call)}
	}
	for i := range p.Rows {
		from := &p.Rows[i]
		open := flags(from.Flags)&changed != 0
		if int(from.Group) >= len(groups) || int(from.State) >= len(states) || (from.State == uint8(unknown)) != open ||
			int(from.Ended) >= int(firstEnded)+len(scheduler.LastOutcomes) {
			return false
		}
		of := groups[from.Group]
		k := key{of.collection, from.Name}
		if to.get(k) != nil {
			return false
		}
		r := to.insert(k)
		r.flags, r.revision, r.at, r.loaded = flags(from.Flags), max(from.Revision, 1), now, true
		if r.flags&moved == 0 {
			r.at -= edited.Milliseconds()
		}
		if !open {
			r.labels, r.does = of.labels, of.does
			r.next, r.last, r.paused, r.tag = from.Next, from.Last, from.Paused, from.Tag
			r.state, r.ended, r.hears = state(from.State), ended(from.Ended), from.Hears
		}
	}
	return true
}

// confirm compares the names of the loaded jobs with the store: it may have lost some without a marker, for example damaged
// ones, or the writer of the snapshot may have missed some. Otherwise all later snapshots would repeat the error.
func (x *Index) confirm(ctx context.Context) error {
	err := x.cfg.Store.EachKnownJob(ctx, func(k scheduler.Key, deleted bool) error {
		if deleted {
			return nil
		}
		x.mu.Lock()
		defer x.mu.Unlock()
		if r := x.get(k); r != nil {
			r.loaded = false
		} else {
			x.hear(k, 1)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("comparing the snapshot with the store: %w", err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for r := range x.jobs.all() {
		if r.loaded {
			r.loaded, r.at = false, x.clock()
			x.mark(r, changed|moved|unseen)
		}
	}
	x.rouse()
	return nil
}
