package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// Link knows since when the connection to NATS is lost, and why it does not
// come back. The log has when it is lost, and when it is back.
type Link struct {
	log         *slog.Logger
	reconnected func()

	mu   sync.Mutex
	lost time.Time // when the outage began; zero once a ping was answered
	back time.Time // when the connection came back in it
	err  error     // of the loss, and then of the last attempt to get it back
}

// NewLink returns a Link, which calls reconnected each time the connection is back.
func NewLink(log *slog.Logger, reconnected func()) *Link {
	return &Link{log: log, reconnected: reconnected}
}

// Options are for the connection that it is about.
func (l *Link) Options() []nats.Option {
	return []nats.Option{
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			l.note(time.Now(), err)
			if err != nil {
				l.log.Warn("connection to NATS lost; reconnecting", "err", err)
			}
		}),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { l.note(time.Now(), err) }),
		nats.ReconnectHandler(func(nc *nats.Conn) {
			l.restored(time.Now())
			l.log.Info("connection to NATS is back", "server", Connected(nc))
			l.reconnected()
		}),
		nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) {
			subject := ""
			if sub != nil {
				subject = sub.Subject
			}
			tell := l.log.Warn
			if _, ok := errors.AsType[*net.OpError](err); ok {
				tell = l.log.Debug // each write in progress; the lost connection is logged once
			}
			tell("the connection to NATS has an error", "subject", subject, "err", err)
		}),
	}
}

// sameOutage is how soon after a reconnection a failure belongs to the same outage.
const sameOutage = time.Minute

// note keeps why the connection, or a ping, fails at an instant, and returns when the outage began. A server
// that hangs may take connections again and again.
func (l *Link) note(at time.Time, err error) (since time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost.IsZero() || !l.back.IsZero() && at.Sub(l.back) > sameOutage {
		l.lost = at
	}
	l.back = time.Time{}
	l.err = cmp.Or(err, l.err)
	return l.lost
}

// restored keeps when there is a connection again.
func (l *Link) restored(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.back, l.err = at, nil
}

// answered ends the outage: the server has answered a ping.
func (l *Link) answered() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost, l.back, l.err = time.Time{}, time.Time{}, nil
}

// ping makes sure that the server answers at all.
func (l *Link) ping(ctx context.Context, nc *nats.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	asked := time.Now()
	err := nc.FlushWithContext(ctx)
	switch {
	case err == nil:
		l.answered()
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		since := l.note(asked, nil)
		return fmt.Errorf("NATS at %s has answered no ping since %s; see whether it hangs, or the network to it fails",
			Connected(nc), clock(since))
	}
	return l.Err(nc)
}

// Err says which servers have been tried since when, and why in vain.
func (l *Link) Err(nc *nats.Conn) error {
	l.mu.Lock()
	lost, err := l.lost, l.err
	l.mu.Unlock()
	text := "not connected to NATS at " + addresses(nc)
	if !lost.IsZero() {
		text += " since " + clock(lost)
	}
	if err == nil {
		return errors.New(text + "; see whether it runs or hangs, and its log")
	}
	return fmt.Errorf("%s: %w; see whether it runs, and its log", text, err)
}

// clock formats a start time as in a log.
func clock(at time.Time) string { return at.UTC().Format("15:04:05Z") }

// addresses names the servers that a connection may be to.
func addresses(nc *nats.Conn) string {
	servers := nc.Servers()
	for i, server := range servers {
		servers[i] = Anonymous(server)
	}
	slices.Sort(servers) // the client keeps them in the order in which it tries them next
	return strings.Join(servers, ", ")
}
