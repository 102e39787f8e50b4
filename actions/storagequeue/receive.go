package storagequeue

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2/queueerror"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/actions/netreason"
	"github.com/carillon-sched/carillon/actions/receive"
	"github.com/carillon-sched/carillon/scheduler/flow"
	"github.com/carillon-sched/carillon/scheduler/source"
)

var _ receive.Receiver = (*Client)(nil)

// SourceTypes implements [receive.Receiver].
func (*Client) SourceTypes() []source.Type { return []source.Type{source.TypeStorageQueue} }

// Forget implements [receive.Receiver]. Receivers leave nothing.
func (*Client) Forget(context.Context, *source.Source) error { return nil }

const (
	// The pauses between two requests to an empty queue.
	minPoll = 100 * time.Millisecond
	maxPoll = 5 * time.Second

	receiveBatch  = 16                         // messages in a response
	maxMessages   = receiveBatch * 7 * maxText // bytes of a response; XML needs up to 6 bytes for a character
	lagEvery      = 30 * time.Second           // interval of asking for the length of the queue
	visibility    = time.Minute                // time for which a message is hidden from other receivers; it is renewed
	foreverSecond = int32(neverExpires)
)

// receiver receives the messages of one source.
type receiver struct {
	feed    *receive.Feed
	from    *source.StorageQueue
	queue   *azqueue.QueueClient
	poison  *azqueue.QueueClient
	counted time.Time // when the length of the queue was last asked for
}

// Receive implements [receive.Receiver].
func (c *Client) Receive(ctx context.Context, feed *receive.Feed) error {
	r := &receiver{feed: feed, from: feed.Source.StorageQueue}
	var open func(string) (*azqueue.QueueClient, error)
	text, err := feed.Reveal(ctx, r.from.ConnectionString)
	if err == nil {
		open, err = c.connect(feed, text)
	}
	if err == nil {
		r.queue, err = open(r.from.Queue)
	}
	if err == nil {
		r.poison, err = open(r.from.Queue + source.PoisonSuffix)
	}
	if err != nil {
		return fmt.Errorf("storageQueue.connectionString: %w", err)
	}
	if err := r.run(ctx); ctx.Err() == nil {
		return explain(err)
	}
	return context.Cause(ctx)
}

// run receives until an error, or the end of ctx.
func (r *receiver) run(ctx context.Context) error {
	for pause := minPoll; ; {
		answer, err := r.queue.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{
			NumberOfMessages: new(int32(receiveBatch)), VisibilityTimeout: new(int32(visibility / time.Second)),
		})
		if err != nil {
			return err
		}
		var group errgroup.Group
		for _, m := range answer.Messages {
			group.Go(func() error { return r.store(ctx, m) })
		}
		if err := group.Wait(); err != nil {
			return err
		}
		r.count(ctx)
		if len(answer.Messages) > 0 {
			pause = minPoll
			continue
		}
		if !flow.Pause(ctx, pause) {
			return context.Cause(ctx)
		}
		pause = min(2*pause, maxPoll)
	}
}

// count reports the length of the queue from time to time. The token may not permit it.
func (r *receiver) count(ctx context.Context) {
	if time.Since(r.counted) < lagEvery {
		return
	}
	r.counted = time.Now()
	if p, err := r.queue.GetProperties(ctx, nil); err == nil && p.ApproximateMessagesCount != nil {
		r.feed.Lag(*p.ApproximateMessagesCount)
	}
}

// store stores a message and deletes it. Its error ends the receiver.
func (r *receiver) store(ctx context.Context, m *azqueue.DequeuedMessage) error {
	if m.MessageID == nil || m.PopReceipt == nil || m.MessageText == nil {
		return errors.New("the service returned a message without an ID, a receipt or a text")
	}
	renew := func(ctx context.Context) error { return r.hide(ctx, m, visibility) }
	err := receive.Hold(ctx, visibility/2, renew, func(ctx context.Context) error { return r.feed.Store(ctx, message(m)) })
	if receive.Refused(err) {
		return r.bury(ctx, m)
	}
	settling, cancel := receive.Settle(ctx)
	defer cancel()
	if err != nil {
		_ = r.hide(settling, m, 0) // it becomes visible in any case
		return err
	}
	return r.remove(settling, m)
}

// hide hides a message from other receivers for a time from now.
func (r *receiver) hide(ctx context.Context, m *azqueue.DequeuedMessage, d time.Duration) error {
	answer, err := r.queue.UpdateMessage(ctx, *m.MessageID, *m.PopReceipt, *m.MessageText, &azqueue.UpdateMessageOptions{
		VisibilityTimeout: new(int32(d / time.Second)),
	})
	if err == nil && answer.PopReceipt != nil {
		m.PopReceipt = answer.PopReceipt
	}
	return err
}

// bury moves a message to the poison queue, which it creates if necessary. If it cannot, the message becomes visible
// again later.
func (r *receiver) bury(ctx context.Context, m *azqueue.DequeuedMessage) error {
	ctx, cancel := receive.Settle(ctx)
	defer cancel()
	put := func() error {
		_, err := r.poison.EnqueueMessage(ctx, *m.MessageText, &azqueue.EnqueueMessageOptions{TimeToLive: new(foreverSecond)})
		return err
	}
	err := put()
	if queueerror.HasCode(err, queueerror.QueueNotFound) {
		if _, err = r.poison.Create(ctx, nil); err == nil || queueerror.HasCode(err, queueerror.QueueAlreadyExists) {
			err = put()
		}
	}
	if err != nil {
		r.feed.Fail(fmt.Errorf("message %s cannot be moved to queue %s%s: %w",
			*m.MessageID, r.from.Queue, source.PoisonSuffix, explain(err)))
		return nil
	}
	return r.remove(ctx, m)
}

// remove deletes a message. A message that another receiver has received since is not deleted.
func (r *receiver) remove(ctx context.Context, m *azqueue.DequeuedMessage) error {
	_, err := r.queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil)
	if queueerror.HasCode(err, queueerror.MessageNotFound, queueerror.PopReceiptMismatch) {
		r.feed.Fail(fmt.Errorf("message %s became visible before it was deleted", *m.MessageID))
		return nil
	}
	return err
}

func message(m *azqueue.DequeuedMessage) receive.Message {
	header := map[string][]string{"MessageId": {*m.MessageID}}
	if m.InsertionTime != nil {
		header["InsertionTime"] = []string{m.InsertionTime.UTC().Format(time.RFC3339)}
	}
	if m.DequeueCount != nil {
		header["DequeueCount"] = []string{strconv.FormatInt(*m.DequeueCount, 10)}
	}
	return receive.Message{ID: *m.MessageID, Header: header, Body: decode(*m.MessageText)}
}

// decode returns the body in the text of a message. Many senders encode in base64, and no property says so: a text that
// is base64 of JSON, or of printable text, is decoded.
func decode(text string) []byte {
	decoded, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(decoded) == 0 || json.Valid([]byte(text)) {
		return []byte(text)
	}
	odd := func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) && !unicode.IsSpace(r) }
	if json.Valid(decoded) || utf8.Valid(decoded) && !strings.ContainsFunc(string(decoded), odd) {
		return decoded
	}
	return []byte(text)
}

// explain returns an error of the SDK without its URL, which may contain a token.
func explain(err error) error {
	if e, ok := errors.AsType[*azcore.ResponseError](err); ok && e.RawResponse != nil {
		body, _ := runtime.Payload(e.RawResponse)
		r := readRefusal(e.RawResponse, body)
		return fmt.Errorf("'%s' (status %d) %s", r.code, r.status, r.text)
	}
	return errors.New(netreason.Reason(err))
}

func (c *Client) receiving() *azqueue.ClientOptions {
	t := c.transport
	t.Answers = maxMessages
	return options(t)
}

// signed opens queues with a token.
func (c *Client) signed(feed *receive.Feed, endpoint, text string) (func(string) (*azqueue.QueueClient, error), error) {
	t, err := parseToken(text, mayProcess, mayUpdate)
	if err != nil {
		return nil, fmt.Errorf("has a SharedAccessSignature that %w", err)
	}
	if !t.buries() {
		feed.Fail(fmt.Errorf("storageQueue.connectionString: cannot move refused messages to queue %s%s, so they stay: "+
			"use a token of the account with the permissions a, c, p and u", feed.Source.StorageQueue.Queue, source.PoisonSuffix))
	}
	return func(queue string) (*azqueue.QueueClient, error) {
		return azqueue.NewQueueClientWithNoCredential(endpoint+"/"+queue+"?"+t.query, c.receiving())
	}, nil
}

// connect opens queues with a connection string. Its errors do not show the key.
func (c *Client) connect(feed *receive.Feed, text string) (func(string) (*azqueue.QueueClient, error), error) {
	fields := receive.Fields(text)
	name, endpoint := fields["accountname"], fields["queueendpoint"]
	if suffix := fields["endpointsuffix"]; endpoint == "" && suffix != "" && "."+suffix != azureDomain {
		endpoint = "https://" + name + ".queue." + suffix
	}
	if endpoint == "" {
		endpoint = name
	}
	a, err := findAccount(endpoint, c.endpoints)
	switch {
	case err != nil:
		return nil, fmt.Errorf("has an AccountName or QueueEndpoint that %w", err)
	case fields["sharedaccesssignature"] != "":
		return c.signed(feed, a.endpoint, fields["sharedaccesssignature"])
	}
	key, err := azqueue.NewSharedKeyCredential(name, fields["accountkey"])
	if err != nil || fields["accountkey"] == "" {
		return nil, errors.New("needs a SharedAccessSignature, or an AccountName with its AccountKey in base64")
	}
	return func(queue string) (*azqueue.QueueClient, error) {
		return azqueue.NewQueueClientWithSharedKeyCredential(a.endpoint+"/"+queue, key, c.receiving())
	}, nil
}
