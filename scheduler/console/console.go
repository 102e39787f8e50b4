// Package console is the web console: pages for people, of everything that the scheduler has. Package frame is what its
// pages have in common; each of its rooms is a package beside that.
package console

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/console/builder"
	"github.com/carillon-sched/carillon/scheduler/console/collections"
	"github.com/carillon-sched/carillon/scheduler/console/edit"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/job"
	"github.com/carillon-sched/carillon/scheduler/console/jobform"
	"github.com/carillon-sched/carillon/scheduler/console/jobs"
	"github.com/carillon-sched/carillon/scheduler/console/live"
	"github.com/carillon-sched/carillon/scheduler/console/load"
	"github.com/carillon-sched/carillon/scheduler/console/newjob"
	"github.com/carillon-sched/carillon/scheduler/console/overview"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/throttle"
)

// Config says what the console shows. Service is required.
type Config struct {
	Service *service.Service

	// Pulse tells what all schedulers have done, and do, for the overview. Default: nobody knows.
	Pulse overview.Source
	// Prefix begins the NATS subjects of published specs. Default carillon.
	Prefix string

	// Rooms are parts besides those that are always there. Default: none.
	Rooms []frame.Room

	// Identify, AllowHost, Rate, Ready, MaxLive, Observe, Logger and Version are as [frame.Config] has them.
	Identify  func(r *http.Request) (*access.Principal, error)
	AllowHost func(host string) bool
	Rate      *throttle.Throttle
	Ready     func(ctx context.Context) error
	MaxLive   int
	Observe   func(operation string, status int, took time.Duration)
	Logger    *slog.Logger
	Version   string
}

// New returns the console. It serves / and everything below [frame.Root].
func New(cfg Config) http.Handler {
	return frame.New(frame.Config{
		Rooms: rooms(cfg), Identify: cfg.Identify, AllowHost: cfg.AllowHost, Rate: cfg.Rate, Ready: cfg.Ready,
		MaxLive: cfg.MaxLive, Observe: cfg.Observe, Logger: cfg.Logger, Version: cfg.Version,
	})
}

// rooms are the parts of the console, in the order of the menu.
func rooms(cfg Config) []frame.Room {
	own := []frame.Room{
		overview.Room(cfg.Service, cfg.Pulse),
		jobs.Room(cfg.Service),
		job.Room(job.Config{Service: cfg.Service, Prefix: cfg.Prefix}),
		newjob.Room(cfg.Service),
		edit.Room(cfg.Service),
		jobform.Room(),
		builder.Room(cfg.Service),
		live.Room(cfg.Service),
		collections.Room(cfg.Service),
	}
	return slices.Concat(own, load.Rooms(cfg.Service), cfg.Rooms)
}
