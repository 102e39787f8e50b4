package metrics

import (
	"context"
	"net/http"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/engine"
)

// Config provides the state that each scrape reads. All functions are required and must be safe for concurrent use.
type Config struct {
	// Version is the program's version, for carillon_build_info.
	Version string

	// ActionTypes lists the supported action types, as history records name them.
	ActionTypes []string

	// Worker returns the load of this process's worker.
	Worker func() engine.Stats

	// Load returns the load of all processes.
	Load func(ctx context.Context) (scheduler.Load, error)

	// Connection returns the state of this process's NATS connection.
	Connection func() Connection

	// Settings returns the result of the last change of the process's settings.
	Settings func() Settings

	// Shut returns the number of streams that did not accept writes at the last check.
	Shut func() int

	// ClockAhead returns by how much the local clock was ahead of the NATS server's at the last check.
	ClockAhead func() time.Duration
}

// Connection is the state of a process's NATS connection.
type Connection struct {
	Connected  bool
	Reconnects uint64 // since the start
}

// Settings is the result of the last change of a process's settings.
type Settings struct {
	Refused bool      // invalid; the previous settings remain in effect
	Read    time.Time // when the settings in effect were read
	Pending int       // changed settings that require a restart
}

// Metrics exports the metrics of one process. It is safe for concurrent use.
type Metrics struct {
	records
	apis
	audits

	handler http.Handler
}

// New returns metrics with all counters at zero.
func New(cfg Config) *Metrics {
	registry := prometheus.NewRegistry()
	f := factory{promauto.With(registry)}
	m := &Metrics{records: newRecords(f, cfg.ActionTypes), apis: newAPIs(f), audits: newAudits(f)}
	registry.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		buildInfo(cfg.Version), newState(cfg),
	)
	m.handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: scrapesMost,
	})
	return m
}

// scrapesMost limits concurrent scrapes. Further scrapes fail with status 503.
const scrapesMost = 8

// ServeHTTP answers a scrape.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.handler.ServeHTTP(w, r) }

// buildInfo returns the gauge carillon_build_info, which is always 1 and has the version as a label.
func buildInfo(version string) prometheus.Collector {
	revision := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = s.Value
			}
		}
	}
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "carillon_build_info", Help: "The program that runs: always 1.",
		ConstLabels: prometheus.Labels{"version": version, "revision": revision, "goversion": runtime.Version()},
	})
	info.Set(1)
	return info
}

// histogram returns the options of a native histogram that also has classic buckets for scrapers without native
// support.
func histogram(name, help string, buckets []float64) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: buckets,
		NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 160, NativeHistogramMinResetDuration: time.Hour,
	}
}

// factory creates metrics and registers them.
type factory struct{ promauto.Factory }

func (f factory) counter(name, help string, labels ...string) *prometheus.CounterVec {
	return f.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}
