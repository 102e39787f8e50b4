package terminal

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// Logging are the flags of what a scheduler tells its operator.
type Logging struct {
	LogLevel  logLevel `help:"Least level of what is logged on stderr: debug, info, warn, error." env:"CARILLON_LOG_LEVEL" default:"${loglevel}" placeholder:"LEVEL" live:""`
	LogFormat string   `help:"Format of the log: text or json." enum:"text,json" env:"CARILLON_LOG_FORMAT" default:"text" placeholder:"FORMAT"`
}

// logLevel is a level as it is written on the command line.
type logLevel slog.Level

// UnmarshalText reads a name, in any letter case.
func (l *logLevel) UnmarshalText(text []byte) error {
	if err := (*slog.Level)(l).UnmarshalText(text); err != nil {
		return fmt.Errorf("%q is not one of debug, info, warn, error", text)
	}
	return nil
}

// String returns the name, in lower case.
func (l logLevel) String() string { return strings.ToLower(slog.Level(l).String()) }

// Level is the least level of what is logged.
func (l Logging) Level() slog.Level { return slog.Level(l.LogLevel) }

// Logger returns a logger that writes to w as the flags say.
func (l Logging) Logger(w io.Writer) *slog.Logger { return l.LoggerFrom(w, l.Level()) }

// LoggerFrom is [Logging.Logger] with a least level that may change.
func (l Logging) LoggerFrom(w io.Writer, least slog.Leveler) *slog.Logger {
	options := &slog.HandlerOptions{Level: least}
	if l.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
