package backup

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/scheduler"
)

// TakeConfig configures [Take]. Store is required.
type TakeConfig struct {
	Store Store

	// Tokens includes the hashes of access tokens.
	Tokens bool

	// Progress is called occasionally with the number of saved jobs, never concurrently. Default: none.
	Progress func(jobs int)

	// Partial omits damaged entries and batons, and counts them in the summary. Default: [Take] fails with an
	// [*OmittedError].
	Partial bool

	// Logger logs each damaged entry and baton. Default: discard.
	Logger *slog.Logger
}

// OmittedError reports damaged entries or batons that the backup would lack.
type OmittedError struct {
	Names []string // entries and batons, such as "job default/report"
}

// Error names the first one.
func (e *OmittedError) Error() string {
	if len(e.Names) == 1 {
		return e.Names[0] + " is damaged and cannot be backed up"
	}
	return fmt.Sprintf("%d entries are damaged and cannot be backed up, such as %s", len(e.Names), e.Names[0])
}

// Take writes a backup of a store to w while schedulers use the store. It does not close w.
func Take(ctx context.Context, cfg TakeConfig, w *Writer) error {
	if cfg.Progress == nil {
		cfg.Progress = func(int) {}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	t := &taker{TakeConfig: cfg, to: w, omitted: map[string]bool{}}
	if err := t.takeValues(ctx); err != nil {
		return err
	}
	if err := t.takeJobs(ctx); err != nil {
		return err
	}
	if err := t.takeValues(ctx); err != nil { // values created in the meantime, which jobs may use
		return err
	}
	if len(t.omitted) > 0 && !t.Partial {
		return &OmittedError{slices.Sorted(maps.Keys(t.omitted))}
	}
	w.omit(len(t.omitted))
	return nil
}

// taker writes one backup.
type taker struct {
	TakeConfig

	last uint64 // revision at the start; jobs with a later one may be listed twice

	mu sync.Mutex
	to *Writer

	omitting sync.Mutex
	omitted  map[string]bool // by kind and name
}

// omit records a damaged entry or baton.
func (t *taker) omit(name string, err error) {
	t.omitting.Lock()
	defer t.omitting.Unlock()
	if !t.omitted[name] {
		t.omitted[name] = true
		t.Logger.Warn("a damaged entry cannot be backed up", "entry", name, "err", err)
	}
}

func (t *taker) takeValues(ctx context.Context) error {
	for kind, bucket := range buckets(t.Store, t.Tokens) {
		err := bucket.Each(ctx, func(st scheduler.Stored) error {
			e := &Entry{Kind: kind, Name: st.Key.Job, Data: st.Data}
			if !t.sound(e) {
				return nil
			}
			_, err := t.to.Write(e)
			return err
		})
		if err != nil {
			return fmt.Errorf("%ss: %w", kind, err)
		}
	}
	return nil
}

// takeJobs saves all jobs in storage order, a chunk at a time.
func (t *taker) takeJobs(ctx context.Context) (err error) {
	if t.last, err = t.Store.LastRevision(ctx); err != nil {
		return err
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	var jobs []scheduler.Stored
	take := func() {
		batch := jobs
		jobs = nil
		g.Go(func() error { return t.takeChunk(gctx, batch) })
	}
	err = t.Store.EachStoredJob(gctx, func(st scheduler.Stored) error {
		if jobs = append(jobs, st); len(jobs) == chunk {
			take()
		}
		return gctx.Err()
	})
	if err == nil && len(jobs) > 0 {
		take()
	}
	if failed := g.Wait(); failed != nil {
		return failed
	}
	return err
}

// looks is the maximum number of reads of a job whose definition keeps changing. After that, the backup takes a
// definition that is newer than the batons; the batons follow it as after any edit.
const looks = 20

// takeChunk saves some jobs, each in a consistent state: it reads the batons between two reads of the definition that
// return the same revision.
func (t *taker) takeChunk(ctx context.Context, jobs []scheduler.Stored) error {
	late := map[scheduler.Key]bool{}
	for _, st := range jobs {
		if st.Revision > t.last {
			late[st.Key] = true
		}
	}
	for look := 1; len(jobs) > 0; look++ {
		batons, err := t.batonsOf(ctx, jobs)
		if err != nil {
			return err
		}
		now := make(map[scheduler.Key]scheduler.Stored, len(jobs))
		if err := t.Store.LoadJobs(ctx, keysOf(jobs), func(st scheduler.Stored) { now[st.Key] = st }); err != nil {
			return err
		}
		var steady, moved []scheduler.Stored // a job in neither was deleted
		for _, st := range jobs {
			switch latest, there := now[st.Key]; {
			case there && (latest.Revision == st.Revision || look == looks):
				steady = append(steady, latest)
			case there:
				moved = append(moved, latest)
			}
		}
		if err := t.write(ctx, steady, batons, late); err != nil {
			return err
		}
		jobs = moved
	}
	return nil
}

func keysOf(jobs []scheduler.Stored) []scheduler.Key {
	keys := make([]scheduler.Key, len(jobs))
	for i, st := range jobs {
		keys[i] = st.Key
	}
	return keys
}

// found holds the batons of a job.
type found struct {
	own      *Baton
	sequence uint64 // of own
	detached []Baton
}

// batonsOf reads the batons of jobs. It reads the jobs' own batons first: a run that detaches in the meantime is then
// found, at worst twice under the same name.
func (t *taker) batonsOf(ctx context.Context, jobs []scheduler.Stored) (map[scheduler.Key]*found, error) {
	batons := make(map[scheduler.Key]*found, len(jobs))
	of := make(map[scheduler.Key]scheduler.Stored, len(jobs))
	for _, st := range jobs {
		batons[st.Key], of[st.Key] = &found{}, st
	}
	take := func(slot scheduler.BatonKey, st scheduler.Stored, running bool) {
		b, ok := t.read(slot, of[slot.Key], st, running)
		f := batons[slot.Key]
		switch {
		case !ok || f == nil:
		case slot.Detached != "":
			f.detached = append(f.detached, b)
		case f.own == nil || st.Revision > f.sequence: // the older one was passed on and is about to be removed
			f.own, f.sequence = &b, st.Revision
		}
	}
	keys := keysOf(jobs)
	err := t.Store.FindBatons(ctx, keys, func(st scheduler.Stored, running bool) { take(scheduler.BatonKey{Key: st.Key}, st, running) })
	if err == nil {
		err = t.Store.FindDetached(ctx, keys, take)
	}
	return batons, err
}

// read decodes a baton. It returns false for a damaged baton, which it records as omitted, and for a baton of an
// earlier job with the same name, which no worker would run.
func (t *taker) read(slot scheduler.BatonKey, job, st scheduler.Stored, running bool) (Baton, bool) {
	b, err := scheduler.DecodeBaton(st.Data)
	if err == nil {
		err = b.Check(slot)
	}
	if err != nil {
		t.omit("the baton of job "+slot.String(), err)
		return Baton{}, false
	}
	return Baton{b, slot.Detached, running}, b.IsOf(scheduler.StoredIncarnation(job.Data))
}

// write writes jobs with their batons. Jobs in late may already have been written.
func (t *taker) write(
	ctx context.Context, jobs []scheduler.Stored, batons map[scheduler.Key]*found, late map[scheduler.Key]bool,
) error {
	entries := make([]*Entry, len(jobs))
	bare := map[scheduler.Key]*Entry{}
	for i, st := range jobs {
		e := &Entry{Kind: Job, Name: st.Key.String(), Data: st.Data}
		entries[i] = e
		f := batons[st.Key]
		if f.own != nil {
			e.Batons = append(e.Batons, *f.own)
		} else if scheduler.StoredState(st.Data) == scheduler.Enabled {
			bare[st.Key] = e
		}
		e.Batons = append(e.Batons, f.counting(e)...)
	}
	if err := t.lastRecords(ctx, bare); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range entries {
		var err error
		if !t.sound(e) {
			continue
		}
		if late[e.Key()] {
			_, err = t.to.Write(e)
		} else {
			err = t.to.WriteNew(e)
		}
		if err != nil {
			return err
		}
	}
	t.Progress(t.to.summary.Jobs)
	return nil
}

// sound reports whether an entry is valid. It records an invalid entry, which no scheduler can have written, as
// omitted.
func (t *taker) sound(e *Entry) bool {
	err := e.check()
	if err != nil {
		t.omit(string(e.Kind)+" "+e.Name, err)
	}
	return err == nil
}

// counting returns the batons of detached runs that the job's own baton has not counted as ended. It returns each run
// once, although a baton that was passed on may have been found twice.
func (f *found) counting(e *Entry) []Baton {
	var batons []Baton
	at := map[string]int{}
	for _, b := range f.detached {
		if own := e.own(); own != nil && own.Counted(b.Baton) {
			continue
		}
		if i, again := at[b.Detached]; again {
			if b.Try >= batons[i].Try {
				batons[i] = b
			}
			continue
		}
		at[b.Detached] = len(batons)
		batons = append(batons, b)
	}
	return batons
}

// lastRecords adds the last records of enabled jobs without a baton. Most of these have ended, but their definitions do
// not show it yet.
func (t *taker) lastRecords(ctx context.Context, bare map[scheduler.Key]*Entry) error {
	if len(bare) == 0 {
		return nil
	}
	keys := make([]scheduler.Key, 0, len(bare))
	for k := range bare {
		keys = append(keys, k)
	}
	err := t.Store.LastRecords(ctx, keys, scheduler.PlaceOutcomes, func(r *scheduler.Record) {
		if e := bare[r.Job]; r.IsOf(scheduler.StoredIncarnation(e.Data)) {
			e.Records = append(e.Records, r)
		}
	})
	for _, e := range bare { // the latest is last
		slices.SortFunc(e.Records, func(a, b *scheduler.Record) int { return cmp.Compare(a.Sequence, b.Sequence) })
	}
	return err
}
