package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
)

// specHeader keeps the sequence of the spec that deleted a job on the delete
// marker, so that an older spec does not bring the job back.
const specHeader = "Carillon-Spec-Sequence"

// LoadJob returns a job's current definition. scheduler.ErrNotFound when there
// is none; Stored.Revision is then that of the delete marker, 0 without one, and
// Stored.SpecSequence what it says.
func (s *Store) LoadJob(ctx context.Context, k scheduler.Key) (scheduler.Stored, error) {
	m, err := s.jobStream.GetLastMsgForSubject(ctx, s.jobSubject(k))
	if err != nil {
		return scheduler.Stored{}, translate(err)
	}
	return stored(k, m)
}

// LoadJobs calls each for the current definitions of keys, in no particular
// order; those that do not exist are left out. It is one request for up to
// 1,024 keys.
func (s *Store) LoadJobs(ctx context.Context, keys []scheduler.Key, each func(scheduler.Stored)) error {
	subjects := make([]string, len(keys))
	for i, k := range keys {
		subjects[i] = s.jobSubject(k)
	}
	return s.lastOf(ctx, "KV_"+s.cfg.bucket(jobsBucket), subjects, 0, func(m *jetstream.RawStreamMsg) {
		if k, ok := s.jobKey(m.Subject); ok {
			if st, err := stored(k, m); err == nil {
				each(st)
			}
		}
	})
}

// LoadJobAt returns the definition as it was at a revision.
// scheduler.ErrNotFound when it is not kept any more.
func (s *Store) LoadJobAt(ctx context.Context, k scheduler.Key, revision uint64) (scheduler.Stored, error) {
	m, err := s.jobStream.GetMsg(ctx, revision)
	if err != nil {
		return scheduler.Stored{}, translate(err)
	}
	if m.Subject != s.jobSubject(k) {
		return scheduler.Stored{}, fmt.Errorf("%w: revision %d is not one of job %s", scheduler.ErrNotFound, revision, k)
	}
	return stored(k, m)
}

// LastRevision returns the last revision that any definition got, of those that the
// store knows.
func (s *Store) LastRevision(ctx context.Context) (uint64, error) {
	info, err := s.jobStream.Info(ctx)
	if err != nil {
		return 0, translate(err)
	}
	return info.State.LastSeq, nil
}

func stored(k scheduler.Key, m *jetstream.RawStreamMsg) (scheduler.Stored, error) {
	st := scheduler.Stored{Key: k, Revision: m.Sequence, Data: m.Data}
	if isMarker(m.Header) {
		st.SpecSequence, _ = strconv.ParseUint(m.Header.Get(specHeader), 10, 64)
		return st, scheduler.ErrNotFound
	}
	return st, nil
}

// SaveJob writes a definition over the revision it replaces (0: none may
// exist) and returns the new revision. final lets it expire, and drops the
// earlier revisions with it. scheduler.ErrConflict when the revision is stale.
func (s *Store) SaveJob(ctx context.Context, k scheduler.Key, data []byte, replaces uint64, final bool) (uint64, error) {
	m := s.message(s.jobSubject(k), data)
	setHeader(m, jetstream.ExpectedLastSubjSeqHeader, strconv.FormatUint(replaces, 10))
	if final {
		setHeader(m, jetstream.MsgTTLHeader, s.cfg.FinalAge.String())
		setHeader(m, "Nats-Rollup", "sub")
	}
	return s.publish(ctx, m)
}

// EndJobs writes the final forms of jobs, as SaveJob does, all of them under way at
// once, and returns an error for each, nil for those that are written. They expire
// as if they had been written when the jobs ended; at the soonest in an hour, as
// nothing expires sooner that leaves a marker. scheduler.ErrConflict when a
// revision is stale.
func (s *Store) EndJobs(ctx context.Context, jobs []scheduler.JobEnd) []error {
	errs := make([]error, len(jobs))
	now := time.Now()
	var writes sync.WaitGroup
	for i := range jobs {
		writes.Go(func() { errs[i] = s.endJob(ctx, &jobs[i], now) })
	}
	writes.Wait()
	return errs
}

func (s *Store) endJob(ctx context.Context, j *scheduler.JobEnd, now time.Time) error {
	m := s.message(s.jobSubject(j.Key), j.Data)
	setHeader(m, jetstream.ExpectedLastSubjSeqHeader, strconv.FormatUint(j.Replaces, 10))
	setHeader(m, jetstream.MsgTTLHeader, wholeSeconds(s.cfg.FinalAge-now.Sub(j.Ended)).String())
	setHeader(m, "Nats-Rollup", "sub")
	_, err := s.publish(ctx, m)
	return err
}

// RewriteJob writes a definition over a revision with the same schedule and
// state, and returns the new revision. A final one expires when the one before
// would have, or in an hour: the server lets nothing expire sooner that leaves a
// marker. scheduler.ErrConflict when the revision is stale.
func (s *Store) RewriteJob(ctx context.Context, k scheduler.Key, data []byte, replaces uint64, final bool) (uint64, error) {
	m := s.message(s.jobSubject(k), data)
	setHeader(m, jetstream.ExpectedLastSubjSeqHeader, strconv.FormatUint(replaces, 10))
	if final {
		left, err := s.timeLeft(ctx, replaces)
		if err != nil {
			return 0, err
		}
		setHeader(m, jetstream.MsgTTLHeader, left.String())
		setHeader(m, "Nats-Rollup", "sub")
	}
	return s.publish(ctx, m)
}

// timeLeft is how long a final definition is still kept. A second is the
// shortest that the server takes.
func (s *Store) timeLeft(ctx context.Context, revision uint64) (time.Duration, error) {
	m, err := s.jobStream.GetMsg(ctx, revision)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		err = scheduler.ErrConflict // replaced, or expired, meanwhile
	}
	if err != nil {
		return 0, translate(err)
	}
	left := s.cfg.FinalAge
	if ttl, err := time.ParseDuration(m.Header.Get(jetstream.MsgTTLHeader)); err == nil {
		left = ttl - time.Since(m.Time)
	}
	return wholeSeconds(left), nil
}

// wholeSeconds is the time to live that the server takes for d.
func wholeSeconds(d time.Duration) time.Duration { return max(d.Truncate(time.Second), time.Second) }

// RemoveJob deletes a definition at a revision. specSequence is the sequence
// of the spec that asked for it, 0 if none did.
func (s *Store) RemoveJob(ctx context.Context, k scheduler.Key, revision, specSequence uint64) error {
	m := s.message(s.jobSubject(k), nil)
	setHeader(m, "KV-Operation", "PURGE")
	setHeader(m, "Nats-Rollup", "sub")
	setHeader(m, jetstream.MsgTTLHeader, markerAge.String())
	setHeader(m, jetstream.ExpectedLastSubjSeqHeader, strconv.FormatUint(revision, 10))
	if specSequence > 0 {
		setHeader(m, specHeader, strconv.FormatUint(specSequence, 10))
	}
	_, err := s.publish(ctx, m)
	return err
}

// WatchJobs calls changed for every definition written or deleted from now on,
// until ctx is done. ready is called once the watch stands. It returns
// scheduler.ErrUnavailable when a change may have been missed.
func (s *Store) WatchJobs(ctx context.Context, ready func(), changed func(k scheduler.Key, revision uint64)) error {
	err := s.listen(ctx, jobsBucket, func(uint64) { ready() }, func(c change) {
		if k, ok := splitKey(c.name); ok {
			changed(k, c.revision)
		}
	})
	if errors.Is(err, errDeaf) {
		s.deafTo(jobsBucket, err)
		return s.followJobs(ctx, ready, changed)
	}
	return err
}

// followJobs is [Store.WatchJobs] by a consumer of the bucket.
func (s *Store) followJobs(ctx context.Context, ready func(), changed func(k scheduler.Key, revision uint64)) error {
	w, err := s.jobs.WatchAll(ctx, jetstream.UpdatesOnly(), jetstream.MetaOnly())
	if err != nil {
		return translate(err)
	}
	defer func() { _ = w.Stop() }()
	ready()
	for {
		select {
		case e, ok := <-w.Updates():
			if !ok {
				return fmt.Errorf("%w: the watch of job definitions ended", scheduler.ErrUnavailable)
			}
			if e == nil {
				continue
			}
			if k, ok := splitKey(e.Key()); ok {
				changed(k, e.Revision())
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// EachKnownJob calls f for every job that the store knows of, in no particular order, until f returns an error, and says
// whether it was deleted, which is remembered for an hour. It reads the headers of the last revisions; a job that is written
// meanwhile may be told twice.
func (s *Store) EachKnownJob(ctx context.Context, f func(k scheduler.Key, deleted bool) error) error {
	ctx, cancel := context.WithTimeout(ctx, indexTimeout)
	defer cancel()
	info, err := s.jobStream.Info(ctx)
	if err != nil || info.State.Msgs == 0 {
		return translate(err)
	}
	return scanHeaders(ctx, s.jobStream, func(subject string, h nats.Header) error {
		if k, ok := s.jobKey(subject); ok {
			return f(k, isMarker(h))
		}
		return nil
	})
}

// isMarker reports whether a message with these headers says that a job was deleted,
// or has expired.
func isMarker(h nats.Header) bool {
	return h.Get("KV-Operation") != "" || h.Get(jetstream.MarkerReasonHeader) != ""
}

// EachJob calls f for every key in a collection (all when it is empty), in no
// particular order, until f returns an error.
func (s *Store) EachJob(ctx context.Context, collection string, f func(scheduler.Key) error) error {
	prefix := "$KV." + s.cfg.bucket(jobsBucket) + "."
	l := listing{stream: s.jobStream, filter: prefix + ">", whole: collection == ""}
	if collection != "" {
		prefix += collection + "."
		l.filter = prefix + "*"
	}
	l.matches = func(subject string) bool { return strings.HasPrefix(subject, prefix) }
	return s.each(ctx, l, func(subject string) error {
		if k, ok := s.jobKey(subject); ok {
			return f(k)
		}
		return nil
	})
}

// storedAhead is how many definitions are asked for at once, of 16 KB at most.
const storedAhead = 512

// EachStoredJob calls f for all definitions that are there, in the order in which they were written, until it returns an
// error. One that is written meanwhile may be told twice, or as it was before. It is much less work for the server than to
// look them up: they are read as they lie in the store.
func (s *Store) EachStoredJob(ctx context.Context, f func(scheduler.Stored) error) error {
	info, err := s.jobStream.Info(ctx)
	if err != nil || info.State.Msgs == 0 {
		return translate(err)
	}
	return scan(ctx, s.jobStream, jetstream.OrderedConsumerConfig{}, storedAhead, func(m jetstream.Msg, sequence uint64) error {
		k, ok := s.jobKey(m.Subject())
		if !ok || isMarker(m.Headers()) {
			return nil
		}
		return f(scheduler.Stored{Key: k, Revision: sequence, Data: m.Data()})
	})
}

// errRead ends a reading that is at its end.
var errRead = errors.New("all has been read")

// EachJobFrom calls f for the definitions that were written from a revision on until now, and for the markers of those that were
// deleted, in the order in which they were written, until it returns an error. One that was written more than once may be told
// more than once: the last one is as it is. It is much less work for the server than to look up as many.
func (s *Store) EachJobFrom(ctx context.Context, from uint64, f func(st scheduler.Stored, deleted bool) error) error {
	info, err := s.jobStream.Info(ctx)
	if err != nil || info.State.Msgs == 0 || from > info.State.LastSeq {
		return translate(err)
	}
	cfg := jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: max(from, 1)}
	err = scan(ctx, s.jobStream, cfg, storedAhead, func(m jetstream.Msg, sequence uint64) error {
		if sequence > info.State.LastSeq {
			return errRead
		}
		if k, ok := s.jobKey(m.Subject()); ok {
			if err := f(scheduler.Stored{Key: k, Revision: sequence, Data: m.Data()}, isMarker(m.Headers())); err != nil {
				return err
			}
		}
		if sequence == info.State.LastSeq {
			return errRead
		}
		return nil
	})
	if errors.Is(err, errRead) {
		return nil
	}
	return err
}

// EachStoredBaton calls f for the batons of a lane that are jobs' own, waiting or running, in the order in which they were
// written, until it returns an error. One that is passed on meanwhile may be told twice, or as it was before.
func (s *Store) EachStoredBaton(ctx context.Context, lane int, f func(st scheduler.Stored, waiting bool) error) error {
	info, err := s.timers[lane].Info(ctx)
	if err != nil || info.State.Msgs == 0 {
		return translate(err)
	}
	return s.readMessages(ctx, info, func(m *jetstream.RawStreamMsg) error {
		slot, ok := s.slotOf(m.Subject)
		if !ok || slot.Detached != "" {
			return nil
		}
		return f(scheduler.Stored{Key: slot.Key, Revision: m.Sequence, Data: m.Data}, m.Subject == s.timerSubject(slot))
	})
}

// LoadJobAsOf returns the definition that a job had at an instant, by the store's
// clock. scheduler.ErrNotFound when there was none, or it is not kept any more: the
// last few revisions are.
func (s *Store) LoadJobAsOf(ctx context.Context, k scheduler.Key, at time.Time) (st scheduler.Stored, err error) {
	err = fmt.Errorf("%w: no revision of job %s is kept that is so old", scheduler.ErrNotFound, k)
	get := directRequest{Subjects: []string{s.jobSubject(k)}, Before: &at}
	failed := s.directGet(ctx, "KV_"+s.cfg.bucket(jobsBucket), get, 1, func(m *jetstream.RawStreamMsg) bool {
		st, err = stored(k, m)
		return true
	}, func(*nats.Msg) {})
	if failed != nil {
		return st, failed
	}
	return st, err
}
