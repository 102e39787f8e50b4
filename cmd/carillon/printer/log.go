package printer

import (
	"context"
	"log/slog"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/intake"
)

// recordLog logs records for operators. It logs one failure per cause every ten seconds, with the number of the others,
// because thousands of jobs fail at the same target during an outage.
type recordLog struct {
	log      *slog.Logger
	watched  bool // by a person
	failures map[cause]*intake.Seldom
}

// cause groups the failures that share a log line.
type cause struct {
	outcome scheduler.Outcome
	target  string
	status  int // 0: no response
}

// mostCauses bounds the causes that have separate lines at the same time.
const mostCauses = 1024

// limit returns the level of a failure, and how many others with its cause were not logged before it.
func (l recordLog) limit(r *scheduler.Record) (slog.Level, int) {
	c := cause{r.Outcome, r.Target, r.Status}
	if l.failures[c] == nil && len(l.failures) >= mostCauses {
		c = cause{outcome: r.Outcome}
	}
	if l.failures[c] == nil {
		l.failures[c] = &intake.Seldom{}
	}
	return l.failures[c].Level()
}

// rest logs the numbers of the failures that no line has reported. It is called every ten seconds.
func (l recordLog) rest() {
	for c, failures := range l.failures {
		switch n, ok := failures.Rest(); {
		case n > 0:
			l.log.Warn("more failures of this kind", "outcome", string(c.outcome), "target", c.target, "status", c.status, "count", n)
		case ok:
			delete(l.failures, c)
		}
	}
}

// level is how much an outcome matters. Failures do everywhere; that all is well does while somebody watches.
func (l recordLog) level(o scheduler.Outcome) slog.Level {
	switch {
	case o == scheduler.OutcomeFailed, o == scheduler.OutcomeFaulted:
		return slog.LevelWarn
	case l.watched:
		return slog.LevelInfo
	}
	return slog.LevelDebug
}

func (l recordLog) wants(r *scheduler.Record) bool {
	return l.log.Enabled(context.Background(), l.level(r.Outcome))
}

func (l recordLog) print(r *scheduler.Record) {
	attrs := []slog.Attr{slog.String("outcome", string(r.Outcome)), slog.String("job", r.Job.String())}
	add := func(yes bool, a slog.Attr) {
		if yes {
			attrs = append(attrs, a)
		}
	}
	level, others := l.level(r.Outcome), 0
	if level == slog.LevelWarn {
		level, others = l.limit(r)
	}
	attempted := !r.Started.IsZero() && r.Outcome != scheduler.OutcomeFaulted // which tells of an attempt that was logged before
	add(r.Occurrence != "", slog.String("occurrence", r.Occurrence))
	add(attempted, slog.Int("attempt", r.Try))
	add(attempted && r.Phase == scheduler.ErrorPhase, slog.Bool("errorAction", true))
	add(level != slog.LevelInfo && r.Target != "", slog.String("target", r.Target))
	add(r.Status != 0, slog.Int("status", r.Status))
	add(attempted, slog.Duration("took", r.Duration.Round(time.Microsecond)))
	add(attempted, slog.Duration("late", r.Lateness().Round(time.Microsecond)))
	trace := r.Trace.ID()
	add(trace != "", slog.String("trace", trace))
	add(r.Count > 0, slog.Int("count", r.Count))
	add(r.Reason != "", slog.String("reason", string(r.Reason)))
	add(r.Outcome != scheduler.OutcomeCompleted && r.Message != "", slog.String("err", brief(r.Short())))
	add(others > 0, slog.Int("others", others))
	if attempted {
		l.log.LogAttrs(context.Background(), level, "attempt", attrs...)
		return
	}
	l.log.LogAttrs(context.Background(), level, "occurrence", attrs...)
}
