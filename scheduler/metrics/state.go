package metrics

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/engine"
)

// The metrics that are read at scrape time.
var (
	inFlight     = gauge("carillon_attempts_in_flight", "Attempts that this process makes now.")
	queued       = gauge("carillon_attempts_queued", "Due runs that wait in this process for a slot of their target.")
	held         = gauge("carillon_batons_held", "Batons that this process holds until their exact instant.")
	memory       = gauge("carillon_hold_memory_bytes", "Estimated memory of the batons in this process.")
	memoryLimit  = gauge("carillon_hold_memory_limit_bytes", "Limit of that memory: --hold-memory.")
	troubles     = total("carillon_planner_errors_total", "Batons that could not be processed.", "reason")
	circuits     = gauge("carillon_circuits", "Targets whose circuit breaker this process knows, by its state.", "state")
	opened       = total("carillon_circuits_opened_total", "Times that a circuit breaker has opened.")
	connected    = gauge("carillon_nats_connected", "1 while this process is connected to NATS, else 0.")
	reconnects   = total("carillon_nats_reconnects_total", "Times that a lost connection to NATS came back.")
	shut         = gauge("carillon_streams_shut", "Streams that took no writes when that was last looked at.")
	clockAhead   = gauge("carillon_clock_ahead_seconds", "By how much this machine's clock is ahead of the NATS server's, which counts.")
	settingsUsed = gauge("carillon_config_last_reload_successful", "1 unless the last change of the settings could not be used.")
	settingsRead = gauge("carillon_config_last_reload_success_timestamp_seconds", "When the settings were read that are in use.")
	settingsLate = gauge("carillon_config_restart_pending", "Settings that have changed and count after a restart only.")
	laneBatons   = gauge("carillon_lane_batons", "Batons of all processes: waiting for their timer, or running.", "lane", "state")
	lanePending  = gauge("carillon_lane_consumer_pending", "Batons that have fired and that no worker has been given yet.", "lane")
	specsWaiting = gauge("carillon_specs_waiting", "Published specs that are not processed yet.")
	events       = total("carillon_events_matched_total", "Events and records that this process has matched with the triggers of jobs.")
	eventEffects = total("carillon_event_effects_total", "Effects of events on jobs.", "effect")
	eventsWait   = gauge("carillon_events_waiting", "Published events that are not matched yet.")
	loadErrors   = total("carillon_load_errors_total", "Failed reads from NATS of the pending batons and specs.")
)

func gauge(name, help string, labels ...string) metric {
	return metric{prometheus.NewDesc(name, help, labels, nil), prometheus.GaugeValue}
}

func total(name, help string, labels ...string) metric {
	return metric{prometheus.NewDesc(name, help, labels, nil), prometheus.CounterValue}
}

// metric is a constant metric that each scrape creates.
type metric struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

func (m metric) is(value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(m.desc, m.kind, value, labels...)
}

// state is the collector of the metrics that are read at scrape time.
type state struct {
	cfg  Config
	load *sampler
}

func newState(cfg Config) *state { return &state{cfg, &sampler{ask: cfg.Load}} }

// Describe implements [prometheus.Collector].
func (*state) Describe(to chan<- *prometheus.Desc) {
	for _, m := range []metric{
		inFlight, queued, held, memory, memoryLimit, troubles, circuits, opened, connected, reconnects, shut, clockAhead,
		settingsUsed, settingsRead, settingsLate,
		laneBatons, lanePending, specsWaiting, events, eventEffects, eventsWait, loadErrors,
	} {
		to <- m.desc
	}
}

// Collect implements [prometheus.Collector].
func (s *state) Collect(to chan<- prometheus.Metric) {
	collectWorker(to, s.cfg.Worker())
	c := s.cfg.Connection()
	to <- connected.is(map[bool]float64{true: 1}[c.Connected])
	to <- reconnects.is(float64(c.Reconnects))
	to <- shut.is(float64(s.cfg.Shut()))
	to <- clockAhead.is(s.cfg.ClockAhead().Seconds())
	settings := s.cfg.Settings()
	to <- settingsUsed.is(map[bool]float64{false: 1}[settings.Refused])
	to <- settingsRead.is(float64(settings.Read.UnixMilli()) / 1000)
	to <- settingsLate.is(float64(settings.Pending))
	load, known, failures := s.load.get()
	to <- loadErrors.is(float64(failures))
	if known {
		collectLoad(to, load)
	}
}

func collectWorker(to chan<- prometheus.Metric, w engine.Stats) {
	to <- inFlight.is(float64(w.InFlight))
	to <- queued.is(float64(w.Queued))
	to <- held.is(float64(w.Held))
	to <- memory.is(float64(w.HoldMemory))
	to <- memoryLimit.is(float64(w.HoldLimit))
	for reason, n := range w.Troubles {
		to <- troubles.is(float64(n), string(reason))
	}
	to <- circuits.is(float64(w.Circuits.Closed), "closed")
	to <- circuits.is(float64(w.Circuits.Open), "open")
	to <- circuits.is(float64(w.Circuits.HalfOpen), "half_open")
	to <- opened.is(float64(w.Opened))
	to <- events.is(float64(w.Events))
	for effect, n := range w.EventEffects {
		to <- eventEffects.is(float64(n), effect)
	}
}

func collectLoad(to chan<- prometheus.Metric, load scheduler.Load) {
	for i, l := range load.Lanes {
		lane := strconv.Itoa(i)
		to <- laneBatons.is(float64(l.Waiting), lane, "waiting")
		to <- laneBatons.is(float64(l.Running), lane, "running")
		to <- lanePending.is(float64(l.Pending), lane)
	}
	to <- specsWaiting.is(float64(load.Specs))
	to <- eventsWait.is(float64(load.Events))
}

// The limits of load requests.
const (
	loadKept    = 5 * time.Second // how long scrapes share an answer, or a failure
	loadTimeout = 2 * time.Second
)

// sampler shares one load request between concurrent scrapes.
type sampler struct {
	ask func(ctx context.Context) (scheduler.Load, error)

	mu       sync.Mutex // held during the request
	at       time.Time  // of the last answer
	load     scheduler.Load
	known    bool // the last request succeeded
	failures uint64
}

// get returns the load, whether it is known, and the number of failed requests since the start.
func (s *sampler) get() (load scheduler.Load, known bool, failures uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at.IsZero() || time.Since(s.at) >= loadKept {
		ctx, cancel := context.WithTimeout(context.Background(), loadTimeout)
		defer cancel()
		var err error
		s.load, err = s.ask(ctx)
		if s.known = err == nil; !s.known {
			s.failures++
		}
		s.at = time.Now()
	}
	return s.load, s.known, s.failures
}
