package printer

import (
	"context"
	"log/slog"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// recordLog logs records for operators.
type recordLog struct {
	log     *slog.Logger
	watched bool // by a person
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
	attempted := !r.Started.IsZero() && r.Outcome != scheduler.OutcomeFaulted // which tells of an attempt that was logged before
	add(r.Occurrence != "", slog.String("occurrence", r.Occurrence))
	add(attempted, slog.Int("attempt", r.Try))
	add(attempted && r.Phase == scheduler.ErrorPhase, slog.Bool("errorAction", true))
	add(r.Status != 0, slog.Int("status", r.Status))
	add(attempted, slog.Duration("took", r.Duration.Round(time.Microsecond)))
	add(attempted, slog.Duration("late", r.Lateness().Round(time.Microsecond)))
	trace := r.Trace.ID()
	add(trace != "", slog.String("trace", trace))
	add(r.Count > 0, slog.Int("count", r.Count))
	add(r.Reason != "", slog.String("reason", string(r.Reason)))
	add(r.Outcome != scheduler.OutcomeCompleted && r.Message != "", slog.String("err", brief(r.Message)))
	if attempted {
		l.log.LogAttrs(context.Background(), l.level(r.Outcome), "attempt", attrs...)
		return
	}
	l.log.LogAttrs(context.Background(), l.level(r.Outcome), "occurrence", attrs...)
}
