package embedded

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
)

// logger passes the server's log on. It keeps the first fatal message: that is
// how the server tells why it does not start.
type logger struct {
	log *slog.Logger

	mu    sync.Mutex
	fatal string
}

// Noticef implements the server's Logger.
func (l *logger) Noticef(format string, v ...any) {
	l.log.Debug("nats", "text", fmt.Sprintf(format, v...))
}

// recovers ends what the server tells after it was killed: it reads again what it had not written down. Nothing is wrong then.
const recovers = "state is outdated; attempting to recover"

// Warnf implements the server's Logger.
func (l *logger) Warnf(format string, v ...any) {
	if strings.Contains(format, recovers) {
		l.Noticef(format, v...)
		return
	}
	l.log.Warn("nats", "text", fmt.Sprintf(format, v...))
}

// Errorf implements the server's Logger.
func (l *logger) Errorf(format string, v ...any) {
	l.log.Error("nats", "text", fmt.Sprintf(format, v...))
}

// Debugf implements the server's Logger.
func (l *logger) Debugf(string, ...any) {}

// Tracef implements the server's Logger.
func (l *logger) Tracef(string, ...any) {}

// Fatalf implements the server's Logger. It does not end the process.
func (l *logger) Fatalf(format string, v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fatal == "" {
		l.fatal = fmt.Sprintf(format, v...)
	}
}

// failure returns the first fatal message, "" when there was none.
func (l *logger) failure() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fatal
}
