package natsmsg

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// A watch collects the refusals of a server. For a forbidden message the server sends an error that names the
// subject, not the message, and the client reports it to the connection's error handler, later and on another
// goroutine. Therefore the watch knows the subjects of all calls in progress, and cancels the calls that an error
// names.
type watch struct {
	inbox string // prefix of the reply inboxes

	mu       sync.Mutex
	calls    map[*call]struct{}
	seen     error         // the last violation that was handled
	news     chan struct{} // closed when seen changes
	inboxErr error         // why answers cannot be received; nil: they can
}

// call is a message under way.
type call struct {
	subject string
	replyTo string // reply subject of the message
	asks    bool   // waits for an answer
	cancel  context.CancelCauseFunc
}

// errLost is why a call ends when its connection breaks.
var errLost = errors.New("the connection to NATS was lost")

// newWatch returns a watch; inbox is the connection's inbox prefix, "" for the
// default.
func newWatch(inbox string) *watch {
	inbox = cmp.Or(inbox, strings.TrimSuffix(nats.InboxPrefix, "."))
	return &watch{inbox: inbox + ".", calls: map[*call]struct{}{}, news: make(chan struct{})}
}

// attach inserts w before the handlers of a connection that another component owns.
func (w *watch) attach(nc *nats.Conn) {
	onError, onLoss := nc.ErrorHandler(), nc.DisconnectErrHandler()
	nc.SetErrorHandler(func(nc *nats.Conn, sub *nats.Subscription, err error) {
		w.failed(nc, sub, err)
		if onError != nil {
			onError(nc, sub, err)
		}
	})
	nc.SetDisconnectErrHandler(func(nc *nats.Conn, err error) {
		w.lost(nc, err)
		if onLoss != nil {
			onLoss(nc, err)
		}
	})
	w.seen = nc.LastError()
}

// begin makes a call known. The context it returns ends with a cause when the
// server refuses the message or the connection breaks; end forgets the call.
func (w *watch) begin(ctx context.Context, c *call) (watched context.Context, end func()) {
	ctx, c.cancel = context.WithCancelCause(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls[c] = struct{}{}
	if c.asks && w.inboxErr != nil {
		c.cancel(w.inboxErr)
	}
	return ctx, func() {
		c.cancel(nil)
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.calls, c)
	}
}

// failed is the connection's error handler.
func (w *watch) failed(_ *nats.Conn, _ *nats.Subscription, err error) {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return
	}
	subject, subscription := violated(err)
	w.mu.Lock()
	defer w.mu.Unlock()
	if subscription && strings.HasPrefix(subject, w.inbox) {
		w.inboxErr = err
	}
	for c := range w.calls {
		if subscription && c.asks && w.inboxErr != nil || !subscription && (c.subject == subject || c.replyTo == subject) {
			c.cancel(err)
		}
	}
	w.seen = err
	close(w.news)
	w.news = make(chan struct{})
}

// lost is the connection's disconnect handler.
func (w *watch) lost(_ *nats.Conn, _ error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inboxErr = nil
	for c := range w.calls {
		c.cancel(errLost)
	}
}

// hostile cancels all calls because the server violated the protocol.
func (w *watch) hostile(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.calls {
		c.cancel(err)
	}
}

// violated returns the subject that a permission violation names, and whether
// subscribing to it was refused, not publishing. The server says one of
//
//	Permissions Violation for Publish to "x"
//	Permissions Violation for Publish with Reply of "x"
//	Permissions Violation for Subscription to "x"
func violated(err error) (subject string, subscription bool) {
	text := err.Error()
	what, _, _ := strings.Cut(text, `"`)
	quoted, err := strconv.QuotedPrefix(text[len(what):])
	if err != nil {
		return "", false
	}
	subject, _ = strconv.Unquote(quoted)
	return subject, strings.Contains(what, "Subscription")
}

// patience bounds the wait for a handler that is queued already.
const patience = time.Second

// refusal returns the permissions violation of a call, or nil. Call it after the server has answered something
// sent later than the call. The client notes an error before it reads on, and hands errors to the handler in
// order. Once the handler has seen the last error, it has seen this call's.
func (w *watch) refusal(ctx context.Context, nc *nats.Conn, c *call) error {
	last := nc.LastError()
	if errors.Is(last, nats.ErrPermissionViolation) && !w.await(ctx, last) {
		// The connection's owner has taken the handler away: only the last
		// violation is known.
		w.mu.Lock()
		w.seen = last
		w.mu.Unlock()
		if subject, subscription := violated(last); !subscription && (subject == c.subject || subject == c.replyTo) {
			return last
		}
	}
	return context.Cause(ctx)
}

// await waits until the violation was handled.
func (w *watch) await(ctx context.Context, violation error) bool {
	late := time.After(patience)
	for {
		w.mu.Lock()
		seen, news := w.seen, w.news
		w.mu.Unlock()
		if seen == violation { //nolint:errorlint // this very one
			return true
		}
		select {
		case <-news:
		case <-late:
			return false
		case <-ctx.Done():
			return true
		}
	}
}
