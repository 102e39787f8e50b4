package main

import (
	"context"
	"log/slog"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/cmd/carillon/tracing"
)

// startTracing sends traces where OpenTelemetry's environment variables say; nil when
// they say nothing.
func startTracing(ctx context.Context, t *terminal.Terminal, log *slog.Logger) (*tracing.Sender, error) {
	sender, err := tracing.Start(ctx, tracing.Config{Version: thisBuild().Version, Out: t.Out, Logger: log})
	if err != nil {
		return nil, terminal.Hinted(terminal.Usagef("%v", err), "carillon docs tracing")
	}
	return sender, nil
}
