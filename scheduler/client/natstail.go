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
	sequenceHeader = "Carillon-Sequence"       // the tail goes on after it
	firstHeader    = "Carillon-First-Sequence" // of the first: what was stored before is not kept
	numberHeader   = "Carillon-Number"         // how many messages the tail has sent before
	tailHeader     = "Carillon-Tail"           // of the first: its id; of the last: over or again
)

// waitingRecords is how many messages of a tail may wait to be read.
const waitingRecords = 4096

// natsTail is a live tail over NATS. The service ends each after a while; then, and
// when a message was lost, another one goes on after the last record that came.
type natsTail struct {
	transport *natsTransport
	request   *nats.Msg
	body      map[string]any
	id        string // of the tail that stands, to end it; "": none
	missed    bool   // not all that was recorded before the tail that stands is kept
}

// tail follows a history: the body of its answer is lines, as those of the REST API.
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

// tailBody ends its tail when it is closed.
type tailBody struct {
	*io.PipeReader

	cancel context.CancelFunc
}

// Close ends the tail.
func (b *tailBody) Close() error {
	b.cancel()
	return b.PipeReader.Close()
}

// begin asks for a tail and returns its first message.
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

// skip has the next tail begin where what is kept does.
func (t *natsTail) skip(first *nats.Msg) {
	kept, err := strconv.ParseUint(first.Header.Get(firstHeader), 10, 64)
	after, ok := t.body["after"].(uint64)
	if t.missed = err == nil && ok && after+1 < kept; t.missed {
		t.body["after"] = kept - 1
	}
}

// errMissed ends a tail that cannot go on where the one before it ended: whoever asks anew is told from where on.
var errMissed = errors.New("what came meanwhile is not kept any more")

// noResponders is the status with which a server answers what nobody takes.
const noResponders = "503"

// goOn has the next tail begin after a message.
func (t *natsTail) goOn(m *nats.Msg) {
	before, _ := t.body["after"].(uint64)
	if after, err := strconv.ParseUint(m.Header.Get(sequenceHeader), 10, 64); err == nil && after >= before {
		t.body["after"] = after
	}
}

// copy writes the lines of one tail after the other, until nothing more can come.
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
		if t.id == "" { // it was well before: whoever asks anew is told why it is not now
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

// copyOne writes the lines of a tail. again says that another one goes on where it
// ended, or where a message is missing.
func (t *natsTail) copyOne(ctx context.Context, sub *nats.Subscription, out io.Writer) (again bool, err error) {
	for expected := uint64(1); ; expected++ {
		m, err := sub.NextMsgWithContext(ctx)
		if err != nil && ctx.Err() == nil { // too many waited
			t.end()
			return true, nil
		}
		if err != nil {
			return false, err
		}
		if number, err := strconv.ParseUint(m.Header.Get(numberHeader), 10, 64); err != nil || number != expected {
			t.end()
			return true, nil //nolint:nilerr // what has no number is not expected either
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

// end tells the service that nobody reads the tail any more.
func (t *natsTail) end() {
	if t.id != "" {
		_ = t.transport.cfg.Conn.Publish(t.transport.cfg.Prefix+".api.unfollow."+t.id, nil) // else it ends by itself
		t.id = ""
	}
}

// natsRefusal is the error of an answer in the middle of a tail.
func natsRefusal(m *nats.Msg) error {
	return &UnreachableError{"NATS", &Error{Message: m.Header.Get("Nats-Service-Error")}}
}
