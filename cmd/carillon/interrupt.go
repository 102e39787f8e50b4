package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// interruption is why a context ends that a signal has ended. It is a [context.Canceled].
type interruption struct{ signal os.Signal }

// Error names the signal.
func (e *interruption) Error() string { return e.signal.String() }

// Is makes it a canceled context.
func (e *interruption) Is(target error) bool { return target == context.Canceled }

// interruptible returns a context that ends with the first SIGINT or SIGTERM.
// The second one kills the process. While the terminal is lent, SIGINT is not for this process.
func interruptible(lent func() bool) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2) // of each kind one: a SIGTERM right behind a Ctrl-C must come, too
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		defer signal.Stop(signals)
		for {
			select {
			case s := <-signals:
				if s == os.Interrupt && lent() {
					continue
				}
				cancel(&interruption{s})
			case <-ctx.Done():
			}
			return
		}
	}()
	return ctx, func() { cancel(nil) }
}

// ended is the error of a command whose context is ctx. Ctrl-C is told from an
// end in good order, also where the command has done all that a stop takes.
func ended(ctx context.Context, err error) error {
	why, ok := errors.AsType[*interruption](context.Cause(ctx))
	if err == nil && ok && why.signal == os.Interrupt {
		return why
	}
	return err
}

// asked drops the error of a process that was told to stop while it started.
func asked(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
