package store

import (
	"context"
	"crypto/rand"
	"errors"
	"strconv"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
)

// The ledger of a collection is one subject beside those of its jobs' definitions, whose last message says which job was
// made last under a quota. Its sequence is what counts: a job is made together with a new entry, or not at all (NATS
// ADR-50, atomic), and only if the last one is that which was there before the jobs were counted. So nobody makes one
// between a count and what follows from it, and nothing is reserved that a crash could leave behind.

// ledgerSubject has one token where a job's has two, so nobody takes it for a job.
func (s *Store) ledgerSubject(collection string) string {
	return "$KV." + s.cfg.bucket(jobsBucket) + "." + collection
}

// Ledger returns where the ledger of a collection stands, 0 when it was never used.
func (s *Store) Ledger(ctx context.Context, collection string) (uint64, error) {
	m, err := s.jobStream.GetLastMsgForSubject(ctx, s.ledgerSubject(collection))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, translate(err)
	}
	return m.Sequence, nil
}

// CreateJob writes a definition over a revision, as [Store.SaveJob] does, if the ledger of its collection still stands where
// it did, and returns the new revision; the ledger is one before it then. scheduler.ErrConflict when either is stale. On a
// server that takes no batches, and cannot be told to, it is SaveJob.
func (s *Store) CreateJob(ctx context.Context, k scheduler.Key, data []byte, replaces, ledger uint64, final bool) (uint64, error) {
	if !s.jobBatches {
		return s.SaveJob(ctx, k, data, replaces, final)
	}
	revision, err := s.createJob(ctx, k, data, replaces, ledger, final)
	for try := 0; errors.Is(err, jetstream.ErrNoStreamResponse) && try < untakenTries && pause(ctx, untakenPause); try++ {
		revision, err = s.createJob(ctx, k, data, replaces, ledger, final)
	}
	return revision, translate(s.suspect(err))
}

func (s *Store) createJob(ctx context.Context, k scheduler.Key, data []byte, replaces, ledger uint64, final bool) (uint64, error) {
	batch := rand.Text()
	entry := s.message(s.ledgerSubject(k.Collection), []byte(k.Job))
	defer s.publisher.recycle(entry)
	entry.Reply = ""
	setHeader(entry, batchIDHeader, batch)
	setHeader(entry, batchSequenceHeader, "1")
	setHeader(entry, jetstream.ExpectedLastSubjSeqHeader, strconv.FormatUint(ledger, 10))
	if err := s.nc.PublishMsg(entry); err != nil {
		return 0, err
	}
	m := s.message(s.jobSubject(k), data)
	defer s.publisher.recycle(m)
	setHeader(m, batchIDHeader, batch)
	setHeader(m, batchSequenceHeader, "2")
	setHeader(m, batchCommitHeader, "1")
	setHeader(m, jetstream.ExpectedLastSubjSeqHeader, strconv.FormatUint(replaces, 10))
	if final {
		setHeader(m, jetstream.MsgTTLHeader, s.cfg.FinalAge.String())
	}
	a, ok := s.publisher.send(ctx, m)
	if !ok {
		return 0, context.Cause(ctx)
	}
	return a.sequence, a.err
}

// DropLedger forgets the ledger of a collection that was deleted, when there is one. Its sequence goes on for an hour: a
// count of before must not pass for one of after.
func (s *Store) DropLedger(ctx context.Context, collection string) error {
	if at, err := s.Ledger(ctx, collection); err != nil || at == 0 {
		return err
	}
	m := s.message(s.ledgerSubject(collection), nil)
	setHeader(m, "KV-Operation", "PURGE")
	setHeader(m, "Nats-Rollup", "sub")
	setHeader(m, jetstream.MsgTTLHeader, markerAge.String())
	_, err := s.publish(ctx, m)
	return err
}
