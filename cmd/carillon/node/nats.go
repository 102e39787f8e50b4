package node

import (
	"context"
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
