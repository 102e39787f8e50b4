package servicebus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/actions/receive"
	"github.com/carillon-sched/carillon/scheduler/source"
)

var _ receive.Receiver = (*Client)(nil)

// SourceTypes implements [receive.Receiver].
func (*Client) SourceTypes() []source.Type {
	return []source.Type{source.TypeQueue, source.TypeSubscription}
}

// Forget implements [receive.Receiver]. Receivers leave nothing.
func (*Client) Forget(context.Context, *source.Source) error { return nil }

// The limits of a receiver.
const (
	receiveBatch = 32 // messages under lock at the same time

	// renewLock is the interval of renewal while a message waits for the store. The shortest lock lasts 5 s.
	renewLock = 2 * time.Second

	sessions      = 8           // sessions that a process receives at the same time
	sessionAccept = time.Minute // wait for a session
	sessionIdle   = time.Second // without a message, after which the session is released
	sessionMost   = time.Minute // with messages, because other sessions wait
)

// receiveRetries configures the SDK, which renews tokens and needs pauses between its attempts.
var receiveRetries = azservicebus.RetryOptions{MaxRetries: 3, RetryDelay: time.Second}

// receiver receives the messages of one source on a separate connection.
type receiver struct {
	feed   *receive.Feed
	from   *source.ServiceBus
	client *azservicebus.Client
}

// locked is a receiver of the SDK, of an entity or a session.
type locked interface {
	CompleteMessage(ctx context.Context, m *azservicebus.ReceivedMessage, o *azservicebus.CompleteMessageOptions) error
	DeadLetterMessage(ctx context.Context, m *azservicebus.ReceivedMessage, o *azservicebus.DeadLetterOptions) error
	Close(ctx context.Context) error
}

// Receive implements [receive.Receiver].
func (c *Client) Receive(ctx context.Context, feed *receive.Feed) error {
	b := feed.Source.ServiceBus
	var a account
	connection, err := feed.Reveal(ctx, b.ConnectionString)
	if err == nil {
		a, err = c.parseConnection(connection, b.Queue+b.Topic)
	}
	if err != nil {
		return fmt.Errorf("%s.connectionString: %w", feed.Source.Type, err)
	}
	conn, err := newConnection(c, a, receiveRetries)
	if err != nil {
		return err
	}
	defer conn.close() //nolint:contextcheck // after the end of ctx
	r := &receiver{feed: feed, from: b, client: conn.client}
	stop := r.follow(ctx, a, c.management)
	defer stop()
	if r.from.Sessions {
		err = r.sessions(ctx)
	} else {
		err = r.messages(ctx)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	f := classify(conn.explain(err, false))
	if f.title != "" {
		return fmt.Errorf("%s: %s", f.title, f.Reason)
	}
	return errors.New(f.Reason)
}

// messages receives the messages of an entity without sessions.
func (r *receiver) messages(ctx context.Context) error {
	in, err := r.open()
	if err != nil {
		return err
	}
	for {
		batch, err := in.ReceiveMessages(ctx, receiveBatch, nil)
		var group errgroup.Group
		for i, m := range batch {
			group.Go(func() error {
				renew := func(ctx context.Context) error { return in.RenewMessageLock(ctx, m, nil) }
				err := lockLost(r.store(ctx, in, m, renew))
				if err == nil {
					batch[i] = nil
				}
				return err
			})
		}
		if err := cmp.Or(err, group.Wait()); err != nil {
			r.release(ctx, in, batch)
			return err
		}
	}
}

// release closes a receiver and abandons its messages, except nil. It does so over another link, because the service may
// deliver an abandoned message on an open link again.
func (r *receiver) release(ctx context.Context, in *azservicebus.Receiver, batch []*azservicebus.ReceivedMessage) {
	closeReceiver(ctx, in)
	batch = slices.DeleteFunc(batch, func(m *azservicebus.ReceivedMessage) bool { return m == nil })
	if len(batch) == 0 {
		return
	}
	in, err := r.open()
	if err != nil {
		return // the locks end in any case
	}
	defer closeReceiver(ctx, in)
	settling, cancel := receive.Settle(ctx)
	defer cancel()
	for _, m := range batch {
		if in.AbandonMessage(settling, m, nil) != nil {
			return
		}
	}
}

func (r *receiver) open() (*azservicebus.Receiver, error) {
	if r.from.Queue != "" {
		return r.client.NewReceiverForQueue(r.from.Queue, nil)
	}
	return r.client.NewReceiverForSubscription(r.from.Topic, r.from.Subscription, nil)
}

// sessions receives several sessions at the same time.
func (r *receiver) sessions(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for range sessions {
		group.Go(func() error {
			for {
				if err := r.session(ctx); err != nil {
					return err
				}
			}
		})
	}
	return group.Wait()
}

// session receives the messages of the next session in order, until none is left. It requests one at a time: the library
// releases messages that arrive between two requests, and those that arrive later would overtake them.
func (r *receiver) session(ctx context.Context) error {
	in, err := r.accept(ctx)
	if in == nil || err != nil {
		return err
	}
	defer closeReceiver(ctx, in)
	renew := func(ctx context.Context) error { return in.RenewSessionLock(ctx, nil) }
	for end := time.Now().Add(sessionMost); time.Now().Before(end); {
		waiting, cancel := context.WithTimeout(ctx, sessionIdle)
		batch, err := in.ReceiveMessages(waiting, 1, nil)
		idle := waiting.Err() != nil && ctx.Err() == nil
		cancel()
		switch {
		case len(batch) == 0 && idle:
			return nil
		case err != nil:
			return lockLost(err)
		}
		for _, m := range batch {
			if err := r.store(ctx, in, m, renew); err != nil {
				return lockLost(err) // closing the session releases its messages
			}
		}
	}
	return nil
}

// accept waits for a session; nil: all are taken or empty.
func (r *receiver) accept(ctx context.Context) (in *azservicebus.SessionReceiver, err error) {
	waiting, cancel := context.WithTimeout(ctx, sessionAccept)
	defer cancel()
	if r.from.Queue != "" {
		in, err = r.client.AcceptNextSessionForQueue(waiting, r.from.Queue, nil)
	} else {
		in, err = r.client.AcceptNextSessionForSubscription(waiting, r.from.Topic, r.from.Subscription, nil)
	}
	if e, ok := errors.AsType[*azservicebus.Error](err); ok && e.Code == azservicebus.CodeTimeout || waiting.Err() != nil {
		return in, ctx.Err()
	}
	return in, err
}

// store stores a message and settles it. Its error ends the receiver, except that of a lost lock.
func (r *receiver) store(
	ctx context.Context, in locked, m *azservicebus.ReceivedMessage, renew func(context.Context) error,
) error {
	err := receive.Hold(ctx, renewLock, renew, func(ctx context.Context) error { return r.feed.Store(ctx, message(m)) })
	settling, cancel := receive.Settle(ctx)
	defer cancel()
	switch {
	case receive.Refused(err):
		err = in.DeadLetterMessage(settling, m, &azservicebus.DeadLetterOptions{
			Reason: new("CarillonRefused"), ErrorDescription: new(err.Error()),
		})
	case err == nil:
		err = in.CompleteMessage(settling, m, nil)
	}
	if lockLost(err) == nil && err != nil {
		r.feed.Fail(errors.New("the lock of a message was lost before it was settled; it is delivered again"))
	}
	return err
}

// lockLost returns nil for the error of a lost lock, which concerns one message or session.
func lockLost(err error) error {
	if e, ok := errors.AsType[*azservicebus.Error](err); ok && e.Code == azservicebus.CodeLockLost {
		return nil
	}
	return err
}

func closeReceiver(ctx context.Context, in locked) {
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	_ = in.Close(closing)
}

// message returns the message of a feed. Sequence numbers of a queue that is created again begin again, and senders may
// repeat a message ID, so its identity is both.
func message(m *azservicebus.ReceivedMessage) receive.Message {
	header := map[string][]string{}
	for name, value := range m.ApplicationProperties {
		name = strings.ToLower(name)
		name = strings.TrimPrefix(strings.TrimPrefix(name, "cloudevents:"), "cloudevents_") // CloudEvents AMQP binding 1.0.2
		header[name] = []string{asText(value)}
	}
	for name, value := range map[string]*string{
		"content-type": m.ContentType, "content-encoding": contentEncoding(m),
		"messageid": &m.MessageID, "correlationid": m.CorrelationID, "subject": m.Subject,
		"to": m.To, "replyto": m.ReplyTo, "replytosessionid": m.ReplyToSessionID, "sessionid": m.SessionID,
		"partitionkey": m.PartitionKey, "deadlettersource": m.DeadLetterSource,
	} {
		if value != nil && *value != "" {
			header[name] = []string{*value}
		}
	}
	if m.EnqueuedTime != nil {
		header["enqueuedtime"] = []string{asText(*m.EnqueuedTime)}
	}
	id := m.MessageID
	if m.SequenceNumber != nil {
		number := strconv.FormatInt(*m.SequenceNumber, 10)
		header["sequencenumber"], id = []string{number}, id+"/"+number
	}
	return receive.Message{ID: id, Header: header, Body: body(m)}
}

// contentEncoding returns a property that the SDK shows only in the raw message; nil: none.
func contentEncoding(m *azservicebus.ReceivedMessage) *string {
	if m.RawAMQPMessage == nil || m.RawAMQPMessage.Properties == nil {
		return nil
	}
	return m.RawAMQPMessage.Properties.ContentEncoding
}

// body returns the body of a message: its data sections, or the value of another section as text.
func body(m *azservicebus.ReceivedMessage) []byte {
	if m.Body == nil && m.RawAMQPMessage != nil && m.RawAMQPMessage.Body.Value != nil {
		return []byte(asText(m.RawAMQPMessage.Body.Value))
	}
	return m.Body
}

// asText returns a value of AMQP as text.
func asText(value any) string {
	switch v := value.(type) {
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	case []byte:
		return string(v)
	}
	return fmt.Sprint(value)
}

// parseConnection reads a connection string for an entity. Its errors do not show the key.
func (c *Client) parseConnection(connection, entity string) (account, error) {
	fields := receive.Fields(connection)
	endpoint := fields["endpoint"]
	if strings.EqualFold(fields["usedevelopmentemulator"], "true") {
		endpoint = strings.Replace(endpoint, "sb://", "amqp://", 1)
	}
	a := account{keyName: fields["sharedaccesskeyname"], key: fields["sharedaccesskey"]}
	switch only := fields["entitypath"]; {
	case endpoint == "":
		return a, errors.New("has no Endpoint=sb://…")
	case a.keyName == "" || a.key == "":
		return a, errors.New("needs SharedAccessKeyName and SharedAccessKey")
	case !keyNames.MatchString(a.keyName):
		return a, errors.New("has a SharedAccessKeyName that is not the name of a shared access policy")
	case only != "" && !strings.EqualFold(only, entity):
		return a, fmt.Errorf("is for the entity %s, not %s", only, entity)
	}
	n, err := readNamespace(endpoint, c.config.Endpoints)
	a.place = n.place
	return a, err
}
