package main

import (
	"io"
	"log/slog"
)

// logging are the flags of what a scheduler tells its operator.
type logging struct {
	LogLevel  slog.Level `help:"Least level of what is logged on stderr: debug, info, warn, error." env:"CARILLON_LOG_LEVEL" default:"${loglevel}" placeholder:"LEVEL"`
	LogFormat string     `help:"Format of the log: text or json." enum:"text,json" env:"CARILLON_LOG_FORMAT" default:"text" placeholder:"FORMAT"`
}

func (l logging) logger(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: l.LogLevel}
	if l.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
