// Package console is the web console. Package frame provides the layout and access control of its pages; each
// [frame.Room] is a part of the console in a separate package.
//
//	frame: host, origin, caller, right, layout ──► room: routes, templates, assets ──► service
//
// Rooms share: words (texts), builder (fields of a schedule), jobform (other fields of a job), records (filter of the
// history), look (results that take long), chart, command (commands to copy). Package consoletest runs all of it for
// tests.
package console

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/builder"
	"github.com/carillon-sched/carillon/scheduler/console/collections"
	"github.com/carillon-sched/carillon/scheduler/console/edit"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/job"
	"github.com/carillon-sched/carillon/scheduler/console/jobform"
	"github.com/carillon-sched/carillon/scheduler/console/jobs"
	"github.com/carillon-sched/carillon/scheduler/console/live"
	"github.com/carillon-sched/carillon/scheduler/console/load"
	"github.com/carillon-sched/carillon/scheduler/console/overview"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/throttle"
)

// Config configures the console. Service is required.
type Config struct {
	Service *control.Service

	// Pulse provides the live statistics of all schedulers for the overview. Default: none.
	Pulse overview.Source
	// Prefix is the prefix of the NATS subjects of published specs. Default: carillon.
	Prefix string

	// Rooms are additional parts. Default: none.
	Rooms []frame.Room

	// Identify, AllowHost, Rate, Ready, MaxLive, Observe, Logger and Version: see [frame.Config].
	Identify  func(r *http.Request) (*auth.Principal, error)
	AllowHost func(host string) bool
	Rate      *throttle.Throttle
	Ready     func(ctx context.Context) error
	MaxLive   int
	Observe   func(operation string, status int, took time.Duration)
	Logger    *slog.Logger
	Version   string
}

// New returns the console. It serves / and all paths below [frame.Root].
func New(cfg Config) http.Handler {
	return frame.New(frame.Config{
		Rooms: rooms(cfg), Identify: cfg.Identify, AllowHost: cfg.AllowHost, Rate: cfg.Rate, Ready: cfg.Ready,
		MaxLive: cfg.MaxLive, Observe: cfg.Observe, Logger: cfg.Logger, Version: cfg.Version,
	})
}

// rooms returns the parts of the console in the order of the menu.
func rooms(cfg Config) []frame.Room {
	own := []frame.Room{
		overview.Room(cfg.Service, cfg.Pulse),
		jobs.Room(cfg.Service),
		job.Room(job.Config{Service: cfg.Service, Prefix: cfg.Prefix}),
		edit.Room(cfg.Service),
		jobform.Room(),
		builder.Room(cfg.Service),
		live.Room(cfg.Service),
		collections.Room(cfg.Service),
	}
	return slices.Concat(own, load.Rooms(cfg.Service), cfg.Rooms)
}
