package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/nats-io/nats.go"
)

// Headers of the messages of a live tail.
const (
	sequenceHeader = "Carillon-Sequence"       // the tail begins after it
	firstHeader    = "Carillon-First-Sequence" // of the first message: the first retained record
	numberHeader   = "Carillon-Number"         // number of earlier messages of the tail
	tailHeader     = "Carillon-Tail"           // of the first message: the tail's id; of the last: over or again
)

// waitingRecords limits the unread messages of a tail.
const waitingRecords = 4096

// natsTail is a live tail over NATS. The service ends each tail after a while. After that, and after a lost message,
// natsTail starts the next tail behind the last received record.
type natsTail struct {
	transport *natsTransport
	request   *nats.Msg
	body      map[string]any
	id        string // of the current tail, to end it; "": none
	missed    bool   // records before the current tail are lost
}

// tail follows a history. The body of its answer has the lines of the REST API.
func (t *natsTransport) tail(r *http.Request, m *nats.Msg) (*http.Response, error) {
	tail := &natsTail{transport: t, request: m, body: map[string]any{}}
	if len(m.Data) > 0 {
		if err := json.Unmarshal(m.Data, &tail.body); err != nil {
			return nil, err
		}
	}
	sub, first, err := tail.begin(r.Context())
	if err != nil {
		return nil, err
	}
	if first.Header.Get(tailHeader) == "" { // a refusal
		_ = sub.Unsubscribe()
		return response(r, first, io.NopCloser(bytes.NewReader(first.Data))), nil
	}
	lines, out := io.Pipe()
	ctx, cancel := context.WithCancel(r.Context())
	go func() {
		defer cancel()
		_ = out.CloseWithError(tail.copy(ctx, sub, out))
	}()
	return response(r, first, &tailBody{lines, cancel}), nil
}

// tailBody ends its tail on Close.
type tailBody struct {
	*io.PipeReader

	cancel context.CancelFunc
}

// Close ends the tail.
func (b *tailBody) Close() error {
	b.cancel()
	return b.PipeReader.Close()
}

// begin requests a tail and returns its first message.
func (t *natsTail) begin(ctx context.Context) (*nats.Subscription, *nats.Msg, error) {
	data, err := json.Marshal(t.body)
	if err != nil {
		return nil, nil, err
	}
	conn := t.transport.cfg.Conn
	sub, err := conn.SubscribeSync(conn.NewInbox())
	if err != nil {
		return nil, nil, err
	}
	if err := sub.SetPendingLimits(waitingRecords, maxAnswer); err != nil {
		return nil, nil, err
	}
	ask := &nats.Msg{Subject: t.request.Subject, Reply: sub.Subject, Header: t.request.Header, Data: data}
	limited, cancel := context.WithTimeoutCause(ctx, answerTimeout, errNoAnswer)
	defer cancel()
	limited, stop := unlessDenied(limited, conn, ask.Subject)
	defer stop()
	var first *nats.Msg
	if err = conn.PublishMsg(ask); err == nil {
		first, err = sub.NextMsgWithContext(limited)
	}
	if err == nil && len(first.Data) == 0 && first.Header.Get("Status") == noResponders {
		err = nats.ErrNoResponders
	}
	if err != nil {
		_ = sub.Unsubscribe()
		return nil, nil, natsFailure(limited, err)
	}
	t.id = first.Header.Get(tailHeader)
	t.goOn(first)
	t.skip(first)
	return sub, first, nil
}

// skip moves the start of the next tail to the first retained record.
func (t *natsTail) skip(first *nats.Msg) {
	kept, err := strconv.ParseUint(first.Header.Get(firstHeader), 10, 64)
	after, ok := t.body["after"].(uint64)
	if t.missed = err == nil && ok && after+1 < kept; t.missed {
		t.body["after"] = kept - 1
	}
}

// errMissed ends a tail that cannot resume seamlessly. The next request reports where it begins.
var errMissed = errors.New("the history no longer has the records in between")

// noResponders is the status of a request without a subscriber.
const noResponders = "503"

// goOn moves the start of the next tail behind a message.
func (t *natsTail) goOn(m *nats.Msg) {
	before, _ := t.body["after"].(uint64)
	if after, err := strconv.ParseUint(m.Header.Get(sequenceHeader), 10, 64); err == nil && after >= before {
		t.body["after"] = after
	}
}

// copy writes the lines of successive tails until the history ends.
func (t *natsTail) copy(ctx context.Context, sub *nats.Subscription, out io.Writer) error {
	for {
		again, err := t.copyOne(ctx, sub, out)
		_ = sub.Unsubscribe()
		if err != nil || !again {
			t.end()
			return err
		}
		var first *nats.Msg
		if sub, first, err = t.begin(ctx); err != nil {
			return err
		}
		if t.id == "" { // it worked before: the next request reports the cause
			_ = sub.Unsubscribe()
			return natsRefusal(first)
		}
		if t.missed {
			_ = sub.Unsubscribe()
			t.end()
			return errMissed
		}
	}
}

// copyOne writes the lines of one tail. again: start another tail, because this one expired or lost a message.
func (t *natsTail) copyOne(ctx context.Context, sub *nats.Subscription, out io.Writer) (again bool, err error) {
	for expected := uint64(1); ; expected++ {
		m, err := sub.NextMsgWithContext(ctx)
		if err != nil && ctx.Err() == nil { // too many unread messages
			t.end()
			return true, nil
		}
		if err != nil {
			return false, err
		}
		if number, err := strconv.ParseUint(m.Header.Get(numberHeader), 10, 64); err != nil || number != expected {
			t.end()
			return true, nil //nolint:nilerr // a message without a number is out of sequence
		}
		last := m.Header.Get(tailHeader)
		if last == "again" {
			t.goOn(m)
			return true, nil
		}
		if _, err := out.Write(append(bytes.TrimSpace(m.Data), '\n')); err != nil {
			return false, err
		}
		if last != "" {
			t.id = ""
			return false, nil
		}
		t.goOn(m)
	}
}

// end notifies the service that the reader has left.
func (t *natsTail) end() {
	if t.id != "" {
		_ = t.transport.cfg.Conn.Publish(t.transport.cfg.Prefix+".api.unfollow."+t.id, nil) // best effort: the tail expires anyway
		t.id = ""
	}
}

// natsRefusal returns the error of a message within a tail.
func natsRefusal(m *nats.Msg) error {
	return &UnreachableError{"NATS", &Error{Message: m.Header.Get("Nats-Service-Error")}}
}
