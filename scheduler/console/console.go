// Package console is the web console. Package frame provides the layout and access control of its pages; each
// [frame.Section] is a part of the console in a separate package.
//
//	frame: host, origin, caller, right, layout ──► section: routes, templates, assets ──► service
//
// Sections share: words (texts), builder (fields of a schedule), jobform (other fields of a job), records (filter of the
// history), look (results that take long), command (commands to copy),
// table (lists). Package consoletest runs all of it for
// tests.
package console

import (
	"net/http"
	"slices"

	"github.com/carillon-sched/carillon/scheduler/console/admin"
	"github.com/carillon-sched/carillon/scheduler/console/builder"
	"github.com/carillon-sched/carillon/scheduler/console/collections"
	"github.com/carillon-sched/carillon/scheduler/console/edit"
	"github.com/carillon-sched/carillon/scheduler/console/events"
	"github.com/carillon-sched/carillon/scheduler/console/failures"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/job"
	"github.com/carillon-sched/carillon/scheduler/console/jobform"
	"github.com/carillon-sched/carillon/scheduler/console/jobs"
	"github.com/carillon-sched/carillon/scheduler/console/live"
	"github.com/carillon-sched/carillon/scheduler/console/load"
	"github.com/carillon-sched/carillon/scheduler/console/overview"
	"github.com/carillon-sched/carillon/scheduler/console/views"
	"github.com/carillon-sched/carillon/scheduler/control"
)

// Config configures the console. Service is required.
type Config struct {
	// Config configures the frame. Its sections follow those of the console. Default: none.
	frame.Config

	Service *control.Service

	// Activity provides the live statistics of all schedulers for the overview. Default: none.
	Activity overview.Source
	// Settings returns the settings of the process, without passwords. Default: none.
	Settings func() []admin.Setting
	// Prefix is the prefix of the NATS subjects of published specs. Default: carillon.
	Prefix string
	// TraceURL is where traces are shown. Default: nowhere.
	TraceURL frame.TraceURL
}

// New returns the console. It serves / and all paths below [frame.Root].
func New(cfg Config) http.Handler {
	cfg.Sections, cfg.Held = sections(cfg), cfg.Service.Held
	return frame.New(cfg.Config)
}

// sections returns the parts of the console in the order of the menu.
func sections(cfg Config) []frame.Section {
	own := []frame.Section{
		overview.Section(cfg.Service, cfg.Activity),
		failures.Section(cfg.Service, cfg.Activity),
		jobs.Section(cfg.Service),
		job.Section(job.Config{Service: cfg.Service, Prefix: cfg.Prefix, TraceURL: cfg.TraceURL}),
		edit.Section(cfg.Service),
		jobform.AssetSection(),
		builder.Section(cfg.Service),
		live.Section(cfg.Service, cfg.TraceURL),
		events.Section(cfg.Service),
		collections.Section(cfg.Service),
	}
	own = slices.Concat(own, load.Sections(cfg.Service), cfg.Sections, []frame.Section{
		admin.Section(admin.Config{Service: cfg.Service, Activity: cfg.Activity, Settings: cfg.Settings}),
	})
	return append(own, views.Section(cfg.Service, own))
}
