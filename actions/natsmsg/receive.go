package natsmsg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/actions/receive"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/source"
)

var _ receive.Receiver = (*Client)(nil)

// SourceTypes implements [receive.Receiver].
func (*Client) SourceTypes() []source.Type { return []source.Type{source.TypeNATS} }

// Receive implements [receive.Receiver]. It receives on the scheduler's own connection.
func (c *Client) Receive(ctx context.Context, feed *receive.Feed) error {
	switch n := feed.Source.NATS; {
	case c.own == nil:
		return errors.New("this process has no connection to NATS")
	case n.Stream != "":
		return c.receiveStream(ctx, feed)
	default:
		return c.receiveSubject(ctx, feed)
	}
}

// Forget implements [receive.Receiver]: it deletes the consumer of a stream.
func (c *Client) Forget(ctx context.Context, s *source.Source) error {
	if s.NATS.Stream == "" || c.own == nil {
		return nil
	}
	err := c.own.js.DeleteConsumer(ctx, s.NATS.Stream, c.consumerName(s))
	return scheduler.Ignore(err, jetstream.ErrConsumerNotFound, jetstream.ErrStreamNotFound)
}

// consumerName returns the name of a source's consumer, or queue group. Names may contain dashes, so the UID makes it
// unique.
func (c *Client) consumerName(s *source.Source) string {
	prefix := strings.ReplaceAll(c.rules.prefix, ".", "_")
	return strings.Join([]string{prefix, s.Key.Collection, s.Key.Job, s.UID[:min(8, len(s.UID))]}, "-")
}

// receiveSubject stores the messages of a core subject. Messages are lost while no process listens, or while this one
// receives faster than it stores.
func (c *Client) receiveSubject(ctx context.Context, feed *receive.Feed) error {
	n, nc := feed.Source.NATS, c.own.nc
	if err := c.rules.admits(n.Subject); err != nil {
		return fmt.Errorf("nats.subject: %w", err)
	}
	before := nc.LastError()
	sub, err := nc.QueueSubscribeSync(n.Subject, c.consumerName(feed.Source))
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := nc.FlushTimeout(connectTimeout); err != nil {
		return err
	}
	last := nc.LastError()
	if last != before && errors.Is(last, nats.ErrPermissionViolation) { //nolint:errorlint // this very one
		if subject, subscription := violated(last); subscription && subject == n.Subject {
			return last
		}
	}
	draining, end := outlast(ctx)
	defer end()
	stay := context.AfterFunc(ctx, func() { _ = sub.Drain() })
	defer stay()
	for {
		m, err := sub.NextMsgWithContext(draining)
		if err == nil {
			id := m.Header.Get(nats.MsgIdHdr)
			err = feed.Store(draining, receive.Message{ID: id, Header: attributes(m.Subject, m.Header), Body: m.Data})
		}
		switch {
		case errors.Is(err, nats.ErrSlowConsumer):
			feed.Fail(errors.New("messages are lost: they arrive faster than they are stored; use a stream"))
		case err != nil && !receive.Refused(err):
			return err
		}
	}
}

// drainTimeout limits how long a stopping process stores received messages of a core subject.
const drainTimeout = 3 * time.Second

// outlast returns a context that ends drainTimeout after ctx.
func outlast(ctx context.Context) (context.Context, func()) {
	longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(drainTimeout, func() { cancel(context.Cause(ctx)) })
	})
	return longer, func() { stop(); cancel(nil) }
}

// attributes returns the headers of a message, with its subject unless a CloudEvent has one.
func attributes(subject string, header nats.Header) map[string][]string {
	all := map[string][]string{"subject": {subject}}
	for name, values := range header {
		all[strings.TrimPrefix(strings.ToLower(name), "ce-")] = values
	}
	return all
}

// admits returns why a source must not receive a subject, or one with wildcards, nil if it may.
func (s subjectRules) admits(pattern string) error {
	own := []string{s.prefix, DefaultPrefix}
	if s.inbox != "" {
		own = append(own, s.inbox)
	}
	for _, prefix := range own {
		if overlap(pattern, prefix+".>") {
			return fmt.Errorf("%q includes subjects of a scheduler, which begin with %s: "+
				"the source could receive its own events; give another subject", pattern, prefix)
		}
	}
	if err := s.reserved(pattern); err != nil {
		return err
	}
	if slices.ContainsFunc(s.sources, func(allowed string) bool { return matches(allowed, pattern) }) {
		return nil
	}
	return fmt.Errorf("%q is none of the subjects that sources may receive: the operator of the scheduler lists them in "+
		"--nats-source-subject", pattern)
}

// overlap reports whether a subject can match both patterns.
func overlap(a, b string) bool {
	p, q := strings.Split(a, "."), strings.Split(b, ".")
	for i := 0; i < len(p) && i < len(q); i++ {
		switch {
		case p[i] == ">" || q[i] == ">":
			return true
		case p[i] != q[i] && p[i] != "*" && q[i] != "*":
			return false
		}
	}
	return len(p) == len(q)
}

// The limits of a consumer.
const (
	ackWait   = 30 * time.Second
	batchSize = 64

	// released is the delay of a released message. The server would deliver it to this process, which still asks for
	// messages, again.
	released = time.Second
)

// receiveStream stores the messages of a stream, through a durable consumer that all processes share.
func (c *Client) receiveStream(ctx context.Context, feed *receive.Feed) error {
	consumer, err := c.openConsumer(ctx, feed.Source)
	if err != nil {
		return err
	}
	fetching, cancel := context.WithCancel(ctx)
	defer cancel()
	for {
		batch, err := consumer.Fetch(batchSize, jetstream.FetchContext(fetching))
		if err != nil {
			return err
		}
		for m := range batch.Messages() {
			if err == nil {
				err = c.storeMessage(ctx, feed, m)
			}
			if err != nil {
				cancel() // of the rest of the batch, which may come later
				_ = m.NakWithDelay(released)
			}
		}
		if err = cmp.Or(err, batch.Error()); err != nil {
			return err
		}
	}
}

// storeMessage stores and acknowledges a message of a stream.
func (c *Client) storeMessage(ctx context.Context, feed *receive.Feed, m jetstream.Msg) error {
	meta, err := m.Metadata()
	if err != nil {
		return err
	}
	if err := c.rules.admits(m.Subject()); err != nil { // the stream mirrors another, or has sources
		feed.Refuse(fmt.Errorf("nats.stream: %s: %w", meta.Stream, err))
		return m.TermWithReason(err.Error())
	}
	feed.Lag(int64(meta.NumPending))
	// The sequences of a stream that is created again begin again, so the identity includes the time.
	id := fmt.Sprintf("%s/%d@%s", meta.Stream, meta.Sequence.Stream, meta.Timestamp.UTC().Format(time.RFC3339Nano))
	renew := func(context.Context) error { return m.InProgress() }
	err = receive.Hold(ctx, ackWait/3, renew, func(ctx context.Context) error {
		return feed.Store(ctx, receive.Message{ID: id, Header: attributes(m.Subject(), m.Headers()), Body: m.Data()})
	})
	switch {
	case receive.Refused(err):
		return m.TermWithReason(err.Error())
	case err != nil:
		return err
	}
	return m.Ack()
}

// openConsumer opens the consumer of a source, and creates it if it does not exist.
func (c *Client) openConsumer(ctx context.Context, s *source.Source) (jetstream.Consumer, error) {
	n := s.NATS
	stream, err := c.own.js.Stream(ctx, n.Stream)
	if err != nil {
		return nil, fmt.Errorf("nats.stream: %s: %w", n.Stream, err)
	}
	subjects := stream.CachedInfo().Config.Subjects
	if n.Subject != "" {
		subjects = []string{n.Subject}
	}
	for _, subject := range subjects {
		if err := c.rules.admits(subject); err != nil {
			return nil, fmt.Errorf("nats.stream: %w", err)
		}
	}
	cfg := jetstream.ConsumerConfig{
		Durable: c.consumerName(s), Description: "Carillon: source " + s.Key.String(), FilterSubject: n.Subject,
		AckPolicy: jetstream.AckExplicitPolicy, AckWait: ackWait, DeliverPolicy: jetstream.DeliverNewPolicy,
	}
	switch {
	case n.Start.All:
		cfg.DeliverPolicy = jetstream.DeliverAllPolicy
	case n.Start.Sequence > 0:
		cfg.DeliverPolicy, cfg.OptStartSeq = jetstream.DeliverByStartSequencePolicy, n.Start.Sequence
	}
	consumer, err := stream.Consumer(ctx, cfg.Durable)
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		consumer, err = stream.CreateConsumer(ctx, cfg)
		if errors.Is(err, jetstream.ErrConsumerExists) { // another process was faster
			consumer, err = stream.Consumer(ctx, cfg.Durable)
		}
	}
	if err != nil || consumer.CachedInfo().Config.FilterSubject == n.Subject {
		return consumer, err
	}
	changed := consumer.CachedInfo().Config // where it began cannot change
	changed.FilterSubject = n.Subject
	return stream.UpdateConsumer(ctx, changed)
}
