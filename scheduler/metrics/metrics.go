package metrics

import (
	"context"
	"net/http"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/worker"
)

// Config says what is asked when somebody scrapes. All functions are required, and called from any goroutine.
type Config struct {
	// Version of the program, for carillon_build_info.
	Version string

	// ActionTypes are the types of actions that there are, as records name them.
	ActionTypes []string

	// Worker says how busy the worker of this process is.
	Worker func() worker.Stats

	// Load says how much there is to do for all processes together.
	Load func(ctx context.Context) (scheduler.Load, error)

	// Connection says how this process is connected to NATS.
	Connection func() Connection

	// Settings says what became of the last change of the process's settings.
	Settings func() Settings

	// Shut is how many streams took no writes when that was last looked at.
	Shut func() int

	// ClockAhead is by how much this machine's clock was ahead of the NATS server's when that was last asked.
	ClockAhead func() time.Duration
}

// Connection is how a process is connected to NATS.
type Connection struct {
	Connected  bool
	Reconnects uint64 // since the start
}

// Settings is what became of the last change of a process's settings.
type Settings struct {
	Refused bool      // it could not be used; those before it count
	Read    time.Time // when those were read that count
	Pending int       // how many have changed that count after a restart only
}

// Metrics are those of one process. They may be used by any number of goroutines.
type Metrics struct {
	records
	apis
	audits

	handler http.Handler
}

// New returns metrics that have counted nothing.
func New(cfg Config) *Metrics {
	m := &Metrics{records: newRecords(cfg.ActionTypes), apis: newAPIs(), audits: newAudits()}
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		buildInfo(cfg.Version), newState(cfg),
	)
	for _, all := range [][]prometheus.Collector{m.records.collectors(), m.apis.collectors(), m.audits.collectors()} {
		registry.MustRegister(all...)
	}
	m.handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: scrapesMost,
	})
	return m
}

// scrapesMost is how many may scrape at once; others are answered 503.
const scrapesMost = 8

// ServeHTTP answers a scrape.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.handler.ServeHTTP(w, r) }

// buildInfo is always 1: its labels tell the program.
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

// histogram are the options of a histogram: native, and with classic buckets for those who do not scrape native ones.
func histogram(name, help string, buckets []float64) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: buckets,
		NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 160, NativeHistogramMinResetDuration: time.Hour,
	}
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}
