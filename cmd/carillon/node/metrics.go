package node

import (
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/metrics"
	"github.com/carillon-sched/carillon/scheduler/worker"
)

// newMetrics returns those of n, which is asked when somebody scrapes: not before it is open.
func (n *Node) newMetrics() *metrics.Metrics {
	return metrics.New(metrics.Config{
		Version: n.cfg.Version, ActionTypes: n.actions.Types(), Load: n.store.Load,
		Worker: func() worker.Stats { return n.worker.Stats() }, Shut: n.health.count,
		ClockAhead: n.store.ClockAhead, Settings: n.cfg.Settings,
		Connection: func() metrics.Connection {
			return metrics.Connection{Connected: n.cfg.Conn.IsConnected(), Reconnects: n.cfg.Conn.Stats().Reconnects}
		},
	})
}

// both calls two functions; also may be nil.
func both(first, also func(*scheduler.Record)) func(*scheduler.Record) {
	if also == nil {
		return first
	}
	return func(r *scheduler.Record) {
		first(r)
		also(r)
	}
}
