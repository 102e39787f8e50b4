package node

import (
	"bytes"
	"context"
	"log/slog"

	"github.com/carillon-sched/carillon/scheduler/intake"
)

// complaints writes what net/http complains of into a log, a line each.
type complaints struct {
	log        *slog.Logger
	handshakes intake.Seldom // of TLS, which anybody can have fail as often as they like
}

// failedHandshake is how net/http begins to tell of one.
var failedHandshake = []byte("http: TLS handshake error")

// Write logs a line.
func (c *complaints) Write(line []byte) (int, error) {
	level, untold := slog.LevelWarn, 0
	if bytes.HasPrefix(line, failedHandshake) {
		level, untold = c.handshakes.Level()
	}
	var others []any
	if untold > 0 {
		others = append(others, "others", untold)
	}
	c.log.Log(context.Background(), level, string(bytes.TrimSpace(line)), others...) //nolint:sloglint // what net/http says
	return len(line), nil
}
