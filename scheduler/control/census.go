package control

import (
	"bytes"
	"context"
	"fmt"
	"hash/maphash"
	"iter"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
)

// census records the batons seen by a consistency check: for each job with a baton, an eight-byte hash of its name and
// a flag. In fewer than one of ten million checks of a million jobs, two names collide; the next check finds the missed
// difference.
type census struct {
	seed    maphash.Seed
	hashes  []uint64 // [ownBaton] is the lowest bit
	defined []bool   // whether the job has a definition, in the order of hashes
}

// ownBaton marks a job that has a baton on its own message. Other jobs have only batons of detached runs.
const ownBaton = 1

func newCensus() *census { return &census{seed: maphash.MakeSeed()} }

// count adds a job with a baton. Call it before [census.order].
func (c *census) count(k scheduler.Key, own bool) {
	hash := c.hash(k)
	if own {
		hash |= ownBaton
	}
	c.hashes = append(c.hashes, hash)
}

func (c *census) hash(k scheduler.Key) uint64 { return maphash.Comparable(c.seed, k) &^ ownBaton }

// order sorts the jobs and completes the count.
func (c *census) order() {
	slices.Sort(c.hashes)
	n := 0
	for i, hash := range c.hashes {
		if i+1 < len(c.hashes) && c.hashes[i+1]&^ownBaton == hash&^ownBaton {
			continue // the last one has the flags of all
		}
		c.hashes[n] = hash
		n++
	}
	c.hashes, c.defined = c.hashes[:n], make([]bool, n)
}

// find returns the position of a job with a baton.
func (c *census) find(k scheduler.Key) (at int, ok bool) {
	hash := c.hash(k)
	at, _ = slices.BinarySearch(c.hashes, hash)
	return at, at < len(c.hashes) && c.hashes[at]&^ownBaton == hash
}

// define marks a job as defined, and reports whether it has its own baton.
func (c *census) define(k scheduler.Key) (own bool) {
	at, ok := c.find(k)
	if ok {
		c.defined[at] = true
	}
	return ok && c.hashes[at]&ownBaton != 0
}

// census lists the batons.
func (a Auditor) census(ctx context.Context, rep *AuditReport) (*census, error) {
	c := newCensus()
	err := a.eachBaton(ctx, func(slot scheduler.BatonKey, waiting bool) {
		if waiting {
			rep.Waiting++
		} else {
			rep.Running++
		}
		c.count(slot.Key, slot.Detached == "")
	})
	c.order()
	return c, err
}

// orphans lists the jobs with batons, but without a definition. If there are any, it reads the batons again.
func (a Auditor) orphans(ctx context.Context, c *census) ([]scheduler.Key, error) {
	if !slices.Contains(c.defined, false) {
		return nil, nil
	}
	var keys []scheduler.Key
	err := a.eachBaton(ctx, func(slot scheduler.BatonKey, _ bool) {
		if at, ok := c.find(slot.Key); ok && !c.defined[at] {
			keys = append(keys, slot.Key)
			c.defined[at] = true // report each job once
		}
	})
	return keys, err
}

func (a Auditor) eachBaton(ctx context.Context, f func(slot scheduler.BatonKey, waiting bool)) error {
	for lane := range a.shared.Store.Lanes() {
		err := a.shared.Store.EachBaton(ctx, lane, func(slot scheduler.BatonKey, waiting bool) error {
			f(slot, waiting)
			return nil
		})
		if err != nil {
			return fmt.Errorf("consistency check of lane %d: %w", lane, err)
		}
	}
	return nil
}

// withoutBaton lists the definitions of jobs without their own baton. A definition that changes meanwhile may appear
// twice.
func (a Auditor) withoutBaton(ctx context.Context, rep *AuditReport, c *census) (*roll, error) {
	bare := &roll{}
	err := a.shared.Store.EachKnownJob(ctx, func(k scheduler.Key, deleted bool) error {
		if deleted {
			return nil
		}
		rep.Jobs++
		rep.collections[k.Collection] = true
		if len(rep.sample) < keySample { // in no particular order
			rep.sample = append(rep.sample, k)
		}
		if !c.define(k) {
			bare.add(k)
		}
		return nil
	})
	return bare, err
}

// roll stores the names of many jobs compactly.
type roll struct {
	names []byte // COLLECTION/JOB, one per line
	len   int
}

func (r *roll) add(k scheduler.Key) {
	r.names = append(append(append(append(r.names, k.Collection...), '/'), k.Job...), '\n')
	r.len++
}

// chunks returns the names in chunks of at most n.
func (r *roll) chunks(n int) iter.Seq[[]scheduler.Key] {
	return func(yield func([]scheduler.Key) bool) {
		var keys []scheduler.Key
		for line := range bytes.Lines(r.names) {
			collection, job, _ := strings.Cut(string(line[:len(line)-1]), "/")
			if keys = append(keys, scheduler.Key{Collection: collection, Job: job}); len(keys) < n {
				continue
			}
			if !yield(keys) {
				return
			}
			keys = nil
		}
		if len(keys) > 0 {
			yield(keys)
		}
	}
}
