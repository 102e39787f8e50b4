package node

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/scheduler/natsapi"
)

// openNATS opens the APIs over NATS: published specs, and request and reply.
func (n *Node) openNATS(ctx context.Context, g *errgroup.Group) {
	ingest := natsapi.NewIngest(natsapi.IngestConfig{
		Service: n.service, Source: n.store, Observe: n.metrics.Spec, Tracer: n.cfg.Tracer, Logger: n.log,
	})
	api := natsapi.NewAPI(natsapi.APIConfig{
		Conn: n.cfg.Conn, Service: n.service, Prefix: n.cfg.Store.Prefix, Version: n.cfg.Version, Logger: n.log,
		Observe: n.metrics.Requests("nats"), Tracer: n.cfg.Tracer,
	})
	g.Go(func() error { return ingest.Run(ctx) })
	g.Go(func() error { return api.Run(ctx) })
}

// Observe returns connection options that log what becomes of a connection, and
// call reconnected each time it is back.
func Observe(log *slog.Logger, reconnected func()) []nats.Option {
	return []nats.Option{
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				log.Warn("connection to NATS lost; trying to get it back", "err", err)
			}
		}),
		nats.ReconnectHandler(func(nc *nats.Conn) {
			log.Info("connection to NATS is back", "server", nc.ConnectedUrlRedacted())
			reconnected()
		}),
		nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) {
			subject := ""
			if sub != nil {
				subject = sub.Subject
			}
			tell := log.Warn
			if _, ok := errors.AsType[*net.OpError](err); ok {
				tell = log.Debug // each write that is under way; that it is lost is told once
			}
			tell("the connection to NATS has an error", "subject", subject, "err", err)
		}),
	}
}

// closePatience is how long a connection may take to send what it holds.
const closePatience = 5 * time.Second

// CloseConn closes a connection after everything on its way was sent.
func CloseConn(nc *nats.Conn) {
	closed := nc.StatusChanged(nats.CLOSED)
	defer nc.Close()
	if nc.Drain() != nil {
		return
	}
	select {
	case <-closed:
	case <-time.After(closePatience):
	}
}
