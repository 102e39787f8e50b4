package terminal

import (
	"context"
	"io"
)

// Input is In for as long as ctx lasts: whoever waits for more is told of its end at once, with its cause. nil without
// In.
func (t *Terminal) Input(ctx context.Context) io.Reader {
	if t.In == nil {
		return nil
	}
	return readerFunc(func(p []byte) (int, error) { return read(ctx, t.In, p) })
}

// readerFunc is a function that reads.
type readerFunc func(p []byte) (int, error)

// Read calls it.
func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// read reads in a goroutine of its own, which ends with the process when it is left waiting.
func read(ctx context.Context, in io.Reader, p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	own := make([]byte, len(p)) // p is the caller's again when this returns
	came := make(chan result, 1)
	go func() {
		n, err := in.Read(own)
		came <- result{n, err}
	}()
	select {
	case r := <-came:
		return copy(p, own[:r.n]), r.err
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}
