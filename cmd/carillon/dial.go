package main

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/cmd/carillon/node"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/store/embedded"
)

// options are the connection options that the flags ask for.
func (f natsFlags) options() []nats.Option {
	var o []nats.Option
	if f.Creds != "" {
		o = append(o, nats.UserCredentials(f.Creds))
	}
	if f.CA != "" {
		o = append(o, nats.RootCAs(f.CA))
	}
	if f.Cert != "" || f.Key != "" {
		o = append(o, nats.ClientCert(f.Cert, f.Key))
	}
	return o
}

// between is the pause between attempts to connect at the start.
const between = 250 * time.Millisecond

// dial connects to NATS. reconnected is called each time a lost connection is
// back.
func (f natsFlags) dial(ctx context.Context, log *slog.Logger, reconnected func()) (*nats.Conn, error) {
	options := append(embedded.ConnectOptions(), node.Observe(log, reconnected)...)
	options = append(options, f.options()...)
	for deadline := time.Now().Add(f.Wait); ; {
		nc, err := nats.Connect(f.URL, options...)
		if err == nil {
			return nc, nil
		}
		if !errors.Is(err, nats.ErrNoServers) || time.Now().After(deadline) {
			return nil, f.explain(err)
		}
		select {
		case <-time.After(between):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// explain adds what to do about a connection that was refused.
func (f natsFlags) explain(err error) error {
	if _, ok := errors.AsType[*url.Error](err); ok { // which shows the URL, and with it a password
		return terminal.Usagef("--nats-url: not an address such as nats://127.0.0.1:4222")
	}
	hint := "name the server with --nats-url or CARILLON_NATS_URL; --nats-wait waits for one that is still starting"
	if errors.Is(err, nats.ErrAuthorization) {
		hint = "give the user's credentials with --creds, or in the URL"
	}
	return terminal.Hinted(terminal.Unavailablef("NATS at %s: %w", redacted(f.URL), err), hint)
}

// redacted hides the passwords of a list of URLs.
func redacted(urls string) string {
	parts := strings.Split(urls, ",")
	for i, part := range parts {
		if part = strings.TrimSpace(part); !strings.Contains(part, "://") {
			part = "nats://" + part // as the client takes it
		}
		if u, err := url.Parse(part); err == nil {
			parts[i] = u.Redacted()
		}
	}
	return strings.Join(parts, ",")
}
