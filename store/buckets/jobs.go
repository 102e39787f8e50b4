package buckets

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
	"github.com/carillon-sched/carillon/store/conn"
)

// specHeader is the header of a delete marker with the sequence of the spec that deleted the job, so that an older spec
// does not restore the job.
const specHeader = "Carillon-Spec-Sequence"

// LoadJob returns a job's current definition. If it does not exist, LoadJob returns scheduler.ErrNotFound;
// Stored.Revision is then the revision of the delete marker, or 0, and Stored.SpecSequence the sequence of its spec.
func (s *Buckets) LoadJob(ctx context.Context, k scheduler.Key) (scheduler.Stored, error) {
	m, err := s.jobStream.GetLastMsgForSubject(ctx, s.JobSubject(k))
	if err != nil {
		return scheduler.Stored{}, conn.Translate(err)
	}
	return stored(k, m)
}

// LoadJobs calls each for the current definitions of keys, in no particular order, and skips missing ones. It takes one
// request for up to 1,024 keys.
func (s *Buckets) LoadJobs(ctx context.Context, keys []scheduler.Key, each func(scheduler.Stored)) error {
	subjects := make([]string, len(keys))
	for i, k := range keys {
		subjects[i] = s.JobSubject(k)
	}
	return s.conn.LastOf(ctx, "KV_"+s.conn.Config.Bucket(jobsBucket), subjects, func(m *jetstream.RawStreamMsg) {
		if k, ok := s.jobKey(m.Subject); ok {
			if st, err := stored(k, m); err == nil {
				each(st)
			}
		}
	})
}

// LoadJobAt returns a definition at a revision. scheduler.ErrNotFound if that revision is not retained.
func (s *Buckets) LoadJobAt(ctx context.Context, k scheduler.Key, revision uint64) (scheduler.Stored, error) {
	m, err := s.jobStream.GetMsg(ctx, revision)
	if err != nil {
		return scheduler.Stored{}, conn.Translate(err)
	}
	if m.Subject != s.JobSubject(k) {
		return scheduler.Stored{}, fmt.Errorf("%w: revision %d is not one of job %s", scheduler.ErrNotFound, revision, k)
	}
	return stored(k, m)
}

// LastRevision returns the latest revision of any definition.
func (s *Buckets) LastRevision(ctx context.Context) (uint64, error) {
	state, err := conn.State(ctx, s.jobStream)
	return state.LastSeq, err
}

func stored(k scheduler.Key, m *jetstream.RawStreamMsg) (scheduler.Stored, error) {
	st := scheduler.Stored{Key: k, Revision: m.Sequence, Data: m.Data}
	if isMarker(m.Header) {
		st.SpecSequence, _ = strconv.ParseUint(m.Header.Get(specHeader), 10, 64)
		return st, scheduler.ErrNotFound
	}
	return st, nil
}

// SaveJob writes a definition over the revision it replaces (0: it must not exist) and returns the new revision. If
// final is true, the definition expires after FinalAge, and its earlier revisions are removed. scheduler.ErrConflict if
// the revision is stale.
func (s *Buckets) SaveJob(ctx context.Context, k scheduler.Key, data []byte, replaces uint64, final bool) (uint64, error) {
	if final {
		return s.write(ctx, k, data, replaces, s.conn.Config.FinalAge)
	}
	return s.write(ctx, k, data, replaces, 0)
}

// write publishes a definition over the revision it replaces. A definition that expires also removes its earlier
// revisions.
func (s *Buckets) write(ctx context.Context, k scheduler.Key, data []byte, replaces uint64, expires time.Duration) (uint64, error) {
	m := s.conn.Message(s.JobSubject(k), data)
	conn.SetHeader(m, jetstream.ExpectedLastSubjSeqHeader, strconv.FormatUint(replaces, 10))
	if expires > 0 {
		conn.SetHeader(m, jetstream.MsgTTLHeader, expires.String())
		conn.SetHeader(m, "Nats-Rollup", "sub")
	}
	return s.conn.Publish(ctx, m)
}

// EndJobs writes the final definitions of jobs concurrently. It returns an error or nil for each; scheduler.ErrConflict
// if a revision is stale. A definition expires FinalAge after the job ended, but at the earliest in an hour, the
// minimum for messages that leave a marker.
func (s *Buckets) EndJobs(ctx context.Context, jobs []scheduler.JobEnd) []error {
	errs := make([]error, len(jobs))
	now := s.conn.Now() //nolint:contextcheck // the clock is read for later calls
	var writes sync.WaitGroup
	for i, j := range jobs {
		writes.Go(func() {
			_, errs[i] = s.write(ctx, j.Key, j.Data, j.Replaces, wholeSeconds(s.conn.Config.FinalAge-now.Sub(j.Ended)))
		})
	}
	writes.Wait()
	return errs
}

// RewriteJob writes a definition over a revision with the same schedule and state, and returns the new revision. A
// final definition keeps its expiry, but expires at the earliest in an hour, the minimum for messages that leave a
// marker. scheduler.ErrConflict if the revision is stale.
func (s *Buckets) RewriteJob(ctx context.Context, k scheduler.Key, data []byte, replaces uint64, final bool) (uint64, error) {
	var left time.Duration
	if final {
		var err error
		if left, err = s.timeLeft(ctx, replaces); err != nil {
			return 0, err
		}
	}
	return s.write(ctx, k, data, replaces, left)
}

// timeLeft returns how long a final definition is still retained. The minimum that the server accepts is one second.
func (s *Buckets) timeLeft(ctx context.Context, revision uint64) (time.Duration, error) {
	m, err := s.jobStream.GetMsg(ctx, revision)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		err = scheduler.ErrConflict // replaced or expired in the meantime
	}
	if err != nil {
		return 0, conn.Translate(err)
	}
	left := s.conn.Config.FinalAge
	if ttl, err := time.ParseDuration(m.Header.Get(jetstream.MsgTTLHeader)); err == nil {
		left = ttl - s.conn.Now().Sub(m.Time) //nolint:contextcheck // as above
	}
	return wholeSeconds(left), nil
}

// wholeSeconds returns the time to live for d, in whole seconds and at least one.
func wholeSeconds(d time.Duration) time.Duration { return max(d.Truncate(time.Second), time.Second) }

// RemoveJob deletes a definition at a revision. specSequence is the sequence of the spec that requested it, or 0.
func (s *Buckets) RemoveJob(ctx context.Context, k scheduler.Key, revision, specSequence uint64) error {
	m := s.conn.Message(s.JobSubject(k), nil)
	conn.SetHeader(m, "KV-Operation", "PURGE")
	conn.SetHeader(m, "Nats-Rollup", "sub")
	conn.SetHeader(m, jetstream.MsgTTLHeader, markerAge.String())
	conn.SetHeader(m, jetstream.ExpectedLastSubjSeqHeader, strconv.FormatUint(revision, 10))
	if specSequence > 0 {
		conn.SetHeader(m, specHeader, strconv.FormatUint(specSequence, 10))
	}
	_, err := s.conn.Publish(ctx, m)
	return err
}

// WatchJobs calls changed for every definition that is written or deleted, until ctx is done. It calls ready once, when
// the watch is active. It returns scheduler.ErrUnavailable if it may have missed a change.
func (s *Buckets) WatchJobs(ctx context.Context, ready func(), changed func(k scheduler.Key, revision uint64)) error {
	err := s.listen(ctx, jobsBucket, func(uint64) { ready() }, func(c change) {
		if k, ok := splitKey(c.name); ok {
			changed(k, c.revision)
		}
	})
	if errors.Is(err, errDeaf) {
		s.deafTo(jobsBucket, err)
		return s.bucket(jobsBucket).follow(ctx, ready, func(name string, revision uint64, _ []byte) {
			if k, ok := splitKey(name); ok {
				changed(k, revision)
			}
		}, jetstream.UpdatesOnly(), jetstream.MetaOnly())
	}
	return err
}

// EachKnownJob calls f for every job, and for every job deleted within the last hour, in no particular order, until f
// returns an error. It reads only the headers of the last revisions. It may call f twice for a job that is written in
// the meantime.
func (s *Buckets) EachKnownJob(ctx context.Context, f func(k scheduler.Key, deleted bool) error) error {
	ctx, cancel := context.WithTimeout(ctx, conn.IndexTimeout)
	defer cancel()
	state, err := conn.State(ctx, s.jobStream)
	if err != nil || state.Msgs == 0 {
		return err
	}
	return conn.ScanHeaders(ctx, s.jobStream, func(subject string, h nats.Header) error {
		if k, ok := s.jobKey(subject); ok {
			return f(k, isMarker(h))
		}
		return nil
	})
}

// isMarker reports whether h belongs to the marker of a deleted or expired job.
func isMarker(h nats.Header) bool {
	return h.Get("KV-Operation") != "" || h.Get(jetstream.MarkerReasonHeader) != ""
}

// EachJob calls f for every job in a collection (all if empty), in no particular order, until f returns an error.
func (s *Buckets) EachJob(ctx context.Context, collection string, f func(scheduler.Key) error) error {
	l := conn.Listing{Stream: s.jobStream, Filter: "$KV." + s.conn.Config.Bucket(jobsBucket) + ".>", Whole: collection == ""}
	if collection != "" {
		l.Filter = s.JobSubject(scheduler.Key{Collection: collection, Job: "*"})
	}
	return s.conn.Each(ctx, l, func(subject string) error {
		if k, ok := s.jobKey(subject); ok {
			return f(k)
		}
		return nil
	})
}

// storedAhead is the number of definitions requested ahead, of at most 16 KB each.
const storedAhead = 512

// EachStoredJob calls f for all definitions, in the order of their last write, until f returns an error. A definition
// that is written in the meantime may be returned twice, or in its previous form. Reading in storage order costs the
// server much less than lookups.
func (s *Buckets) EachStoredJob(ctx context.Context, f func(scheduler.Stored) error) error {
	state, err := conn.State(ctx, s.jobStream)
	if err != nil || state.Msgs == 0 {
		return err
	}
	return conn.ScanLast(ctx, s.jobStream, storedAhead, false, func(m jetstream.Msg, sequence uint64) error {
		k, ok := s.jobKey(m.Subject())
		if !ok || isMarker(m.Headers()) {
			return nil
		}
		return f(scheduler.Stored{Key: k, Revision: sequence, Data: m.Data()})
	})
}

// EachJobFrom calls f for the definitions and delete markers written from a revision on until now, in order, until f
// returns an error. A job that was written several times may be returned several times; the last one is current. This
// costs the server much less than lookups.
func (s *Buckets) EachJobFrom(ctx context.Context, from uint64, f func(st scheduler.Stored, deleted bool) error) error {
	state, err := conn.State(ctx, s.jobStream)
	if err != nil || state.Msgs == 0 || from > state.LastSeq {
		return err
	}
	return conn.ScanRange(ctx, s.jobStream, max(from, 1), state.LastSeq, storedAhead, func(m jetstream.Msg, sequence uint64) error {
		k, ok := s.jobKey(m.Subject())
		if !ok {
			return nil
		}
		st := scheduler.Stored{Key: k, Revision: sequence, Data: m.Data()}
		if meta, err := m.Metadata(); err == nil {
			st.Written = meta.Timestamp
		}
		return f(st, isMarker(m.Headers()))
	})
}

// LoadJobAsOf returns the definition that a job had at a time (store clock). scheduler.ErrNotFound if the job did not
// exist or the revision is not retained; only the last few are.
func (s *Buckets) LoadJobAsOf(ctx context.Context, k scheduler.Key, at time.Time) (st scheduler.Stored, err error) {
	err = fmt.Errorf("%w: no revision of job %s is kept that is so old", scheduler.ErrNotFound, k)
	get := conn.DirectRequest{Subjects: []string{s.JobSubject(k)}, Before: &at}
	failed := s.conn.DirectGet(ctx, "KV_"+s.conn.Config.Bucket(jobsBucket), get, 1, func(m *jetstream.RawStreamMsg) bool {
		st, err = stored(k, m)
		return true
	}, func(*nats.Msg) {})
	if failed != nil {
		return st, failed
	}
	return st, err
}

// JobSubject returns the subject of a job's definition in its key-value bucket.
func (s *Buckets) JobSubject(k scheduler.Key) string {
	return "$KV." + s.conn.Config.Bucket(jobsBucket) + "." + k.Collection + "." + k.Job
}

// jobKey parses a job subject.
func (s *Buckets) jobKey(subject string) (scheduler.Key, bool) {
	rest, ok := strings.CutPrefix(subject, "$KV."+s.conn.Config.Bucket(jobsBucket)+".")
	if !ok {
		return scheduler.Key{}, false
	}
	return splitKey(rest)
}

func splitKey(s string) (scheduler.Key, bool) {
	c, j, ok := strings.Cut(s, ".")
	return scheduler.Key{Collection: c, Job: j}, ok && !strings.Contains(j, ".")
}
