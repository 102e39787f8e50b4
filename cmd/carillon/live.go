package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/cmd/carillon/listen"
	"github.com/carillon-sched/carillon/cmd/carillon/node"
	"github.com/carillon-sched/carillon/cmd/carillon/settings"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/console/admin"
	"github.com/carillon-sched/carillon/scheduler/metrics"
	"github.com/carillon-sched/carillon/scheduler/tracing"
)

// live holds the settings that can change while serve runs: the flags with the tag live.
type live struct {
	level  slog.LevelVar
	hosts  hosts
	keeper *settings.Keeper

	// Fixed at startup.
	tracer    *tracing.Tracer
	guard     *egress.Guard
	admission *admission
	node      *node.Node
}

// newLive returns the live settings of c.
func newLive(ctx context.Context, c serveCmd) *live {
	l := &live{}
	l.level.Set(c.Level())
	l.hosts.set(listen.Hosts(ctx, c.HTTP, c.Hosts))
	return l
}

// take applies the live ones of validated settings.
func (l *live) take(ctx context.Context, c serveCmd) error {
	networks, err := c.networks()
	if err != nil {
		return err
	}
	access, err := l.admission.take(c.accessFlags, c.Hosts)
	if err != nil {
		return err
	}
	l.level.Set(c.Level())
	l.guard.Replace(networks...)
	l.hosts.set(listen.Hosts(ctx, l.admission.addr, c.Hosts))
	l.node.ChangeAccess(access)
	return nil
}

// hosts decides which host names the API accepts.
type hosts struct {
	allowed atomic.Pointer[func(host string) bool]
}

// set replaces the predicate, which [listen.Hosts] returns. nil accepts all names.
func (h *hosts) set(allowed func(host string) bool) {
	if allowed == nil {
		allowed = func(string) bool { return true }
	}
	h.allowed.Store(&allowed)
}

func (h *hosts) allow(host string) bool { return (*h.allowed.Load())(host) }

// hangups returns the SIGHUPs until stop. A signal that arrives during a reload is kept.
func hangups() (came <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}

// reader returns a function that reads the settings again, with the command line of serve.
func (l *live) reader(line commandLine, t *terminal.Terminal) func(context.Context) (settings.Set, func() error, error) {
	return func(ctx context.Context) (settings.Set, func() error, error) {
		l.admission.tls.Now()
		c, next, err := line.settings(ctx, t)
		return next, func() error { return l.take(ctx, c) }, err
	}
}

// state returns the result of the last change, for the metrics.
func (l *live) state() metrics.Settings {
	s := l.keeper.State()
	return metrics.Settings{Refused: s.Refused, Read: s.Read, Pending: s.Pending}
}

// shown returns the settings for the console.
func (l *live) shown() []admin.Setting {
	return terminal.All(l.keeper.State().Rows, func(row settings.Row) admin.Setting {
		columns := row.Columns()
		return admin.Setting{Name: columns[0], Value: columns[1], Origin: columns[2], Live: row.Live}
	})
}
