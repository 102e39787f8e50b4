package broker

import "github.com/carillon-sched/carillon/integration/emulator/internal/wal"

// A Receipt says when what was done has been written to the journal, which is when it may be acknowledged. Other receivers may
// have seen it before. The zero value is one that has been.
type Receipt struct {
	log      *wal.Log
	position wal.Position
}

// Done reports whether it has been written. Without a journal it always has.
func (r Receipt) Done() bool { return r.log == nil || r.log.Written(r.position) }

// Then calls f when it has been written, or with the error when it cannot be: before Then returns if Done, or else from
// another goroutine. f must not block.
func (r Receipt) Then(f func(error)) {
	if r.log == nil {
		f(nil)
		return
	}
	r.log.Then(r.position, func(err error) { f(unwritten(err)) })
}

// Wait returns when it has been written, or the error when it cannot be.
func (r Receipt) Wait() error {
	if r.log == nil {
		return nil
	}
	return unwritten(r.log.Wait(r.position))
}

func unwritten(err error) error {
	if err == nil {
		return nil
	}
	return fail(InternalError, "The operation could not be written: %s", err)
}
