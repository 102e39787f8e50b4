package tracing

import (
	"context"
	"log/slog"

	"github.com/carillon-sched/carillon/scheduler/tracing"
)

// Logger returns a logger that adds the trace id to messages logged in the context of a span. A nil sender
// returns log.
func (s *Sender) Logger(log *slog.Logger) *slog.Logger {
	if s == nil {
		return log
	}
	return slog.New(handler{log.Handler()})
}

// handler adds the id of the trace of a context.
type handler struct{ slog.Handler }

// Handle implements [slog.Handler].
func (h handler) Handle(ctx context.Context, r slog.Record) error {
	if id := tracing.ID(ctx); id != "" {
		r = r.Clone()
		r.AddAttrs(slog.String("trace", id))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements [slog.Handler].
func (h handler) WithGroup(name string) slog.Handler { return handler{h.Handler.WithGroup(name)} }
