package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/carillon-sched/carillon/cmd/carillon/client"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/embedded"
)

// The exit codes.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitConflict    = 4
	exitUnavailable = 5
	exitInterrupted = 130
)

// usageError is a mistake on the command line.
type usageError struct{ error }

// Unwrap returns what the mistake is.
func (e *usageError) Unwrap() error { return e.error }

// hintedError says what to do about an error.
type hintedError struct {
	error

	hint string
}

// Unwrap returns the error.
func (e *hintedError) Unwrap() error { return e.error }

// hinted adds a hint to an error; nil stays nil.
func hinted(err error, hint string) error {
	if err == nil {
		return nil
	}
	return &hintedError{err, hint}
}

// reportedError is an error whose lines are printed already.
type reportedError struct{ error }

// Unwrap returns the error.
func (e *reportedError) Unwrap() error { return e.error }

// reported returns an error for those that were printed, with the exit code that
// they share or, when they differ, that of a plain failure; nil for none.
func reported(errs []error) error {
	if len(errs) == 0 {
		return nil
	}
	for _, err := range errs {
		if exitCode(err) != exitCode(errs[0]) {
			return &reportedError{errSeveral}
		}
	}
	return &reportedError{errs[0]}
}

var errSeveral = errors.New("several things went wrong")

// unavailableError is something this process needs and cannot have.
type unavailableError struct{ error }

// Unwrap returns the reason.
func (e *unavailableError) Unwrap() error { return e.error }

// exitCode is the code that a command's error ends the process with.
func exitCode(err error) int {
	switch {
	case err == nil:
		return exitOK
	case is[*usageError](err):
		return exitUsage
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, scheduler.ErrNotFound):
		return exitNotFound
	case errors.Is(err, scheduler.ErrConflict):
		return exitConflict
	case errors.Is(err, scheduler.ErrUnavailable), is[*unavailableError](err), is[*store.SettingError](err),
		is[*embedded.PortError](err), is[*embedded.DirError](err), is[*embedded.InUseError](err), is[*embedded.StartError](err):
		return exitUnavailable
	}
	return exitFailure
}

func is[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// fail prints an error with its hints, and returns the exit code.
func (t *terminal) fail(err error) int {
	code := exitCode(err)
	if err == nil || code == exitInterrupted {
		return code
	}
	if !is[*reportedError](err) {
		for line := range strings.Lines(err.Error()) {
			t.complain("error", strings.TrimSuffix(line, "\n"))
		}
	}
	if hint := hintOf(err); hint != "" {
		t.complain("hint", hint)
	}
	return code
}

// complain prints a line for people on stderr.
func (t *terminal) complain(kind, text string) { fmt.Fprintf(t.err, "carillon: %s: %s\n", kind, text) }

// hintOf returns the hint that comes with an error, or one for its kind.
func hintOf(err error) string {
	if h, ok := errors.AsType[*hintedError](err); ok {
		return h.hint
	}
	if e, ok := errors.AsType[*store.SettingError](err); ok {
		return settingHint(e)
	}
	switch {
	case is[*client.UnreachableError](err):
		return `start a scheduler with "carillon dev", or name its address with --server or CARILLON_SERVER`
	case is[*embedded.PortError](err):
		return "another program uses that port, perhaps a second carillon; choose one with --nats, port 0 takes any free one"
	case is[*embedded.InUseError](err):
		return "end that process, or give this one a directory of its own with --data"
	case is[*embedded.DirError](err):
		return "choose another directory with --data"
	}
	return ""
}

// settingHint says where a setting of the store is made.
func settingHint(e *store.SettingError) string {
	switch e.Setting {
	case "jetstream", "permissions":
		return "this is a setting of the NATS server"
	}
	return "the setting is --" + e.Setting
}
