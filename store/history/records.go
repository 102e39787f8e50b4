package history

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store/conn"
	"github.com/carillon-sched/carillon/store/failover"
)

// historyStream is the stream of records.
const historyStream = "HISTORY"

// endings are the outcomes of records that end an attempt.
var endings = []scheduler.Outcome{scheduler.OutcomeCompleted, scheduler.OutcomeFailed, scheduler.OutcomeFaulted}

// recordsCheck is the interval of the check that the consumer of records exists.
const recordsCheck = 10 * time.Second

// DeliverRecords is DeliverEvents for the records of the history that end an attempt. Other records are acknowledged. It
// creates the consumer, which begins at since, unless it exists. If another process closes it meanwhile, DeliverRecords
// creates it again: a job may have begun to follow another one at the same time.
func (s *Events) DeliverRecords(
	ctx context.Context, since time.Time, wake <-chan struct{}, room func() int, take func(scheduler.DeliveredEvent),
) error {
	if err := s.openRecords(ctx, since); err != nil {
		return err
	}
	leave := s.conn.Join(s.history.stream)
	defer leave()
	go s.keepRecords(ctx)
	return s.deliver(ctx, historyStream, wake, room, func(m *nats.Msg, of conn.Delivered) {
		lease := s.conn.Failover.Keep(of.Stream, of.Sequence, m.Reply)
		r, err := s.history.record(&jetstream.RawStreamMsg{Subject: m.Subject, Sequence: of.Sequence, Data: m.Data, Time: of.Stored})
		if err == nil {
			if e, ok := scheduler.EventOf(r); ok {
				take(scheduler.DeliveredEvent{Event: &e, Deliveries: of.Deliveries, Lease: lease})
				return
			}
		}
		_ = lease.Ack()
	})
}

// CloseRecords deletes the consumer of records, if it exists. Call it when no job follows another one any more: otherwise
// the first job that does so later would be started by all records since.
func (s *Events) CloseRecords(ctx context.Context) error {
	err := s.history.stream.DeleteConsumer(ctx, conn.Workers)
	return conn.Translate(scheduler.Ignore(err, jetstream.ErrConsumerNotFound))
}

// keepRecords creates the consumer again if it is closed, until ctx is done. The new one begins at the last check.
func (s *Events) keepRecords(ctx context.Context) {
	since := s.conn.Now() //nolint:contextcheck // what Now asks the server is for later calls
	for failover.Pause(ctx, recordsCheck) {
		now := s.conn.Now() //nolint:contextcheck // as above
		if err := s.openRecords(ctx, since); err == nil {
			since = now
		}
	}
}

// openRecords creates the consumer of records, unless it exists.
func (s *Events) openRecords(ctx context.Context, since time.Time) error {
	st := s.history.stream
	_, err := st.Consumer(ctx, conn.Workers)
	if !errors.Is(err, jetstream.ErrConsumerNotFound) {
		return conn.Translate(err)
	}
	cfg := conn.SharedConsumer("Carillon: records for jobs that follow others", "", failover.AckWait)
	for _, outcome := range endings {
		cfg.FilterSubjects = append(cfg.FilterSubjects, s.history.HistorySubject(scheduler.Key{Collection: "*", Job: "*"}, outcome))
	}
	cfg.DeliverPolicy, cfg.OptStartTime = jetstream.DeliverByStartTimePolicy, &since
	_, err = st.CreateConsumer(ctx, cfg)
	return conn.Translate(scheduler.Ignore(err, jetstream.ErrConsumerExists)) // another process was faster
}
