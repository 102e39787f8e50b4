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
	return &input{ctx, t.In}
}

// input reads in a goroutine of its own. One that is left waiting ends with the process.
type input struct {
	ctx context.Context
	in  io.Reader
}

// Read reads what comes, or returns the cause of the context's end.
func (i *input) Read(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	own := make([]byte, len(p)) // p is the caller's again when this returns
	came := make(chan result, 1)
	go func() {
		n, err := i.in.Read(own)
		came <- result{n, err}
	}()
	select {
	case r := <-came:
		return copy(p, own[:r.n]), r.err
	case <-i.ctx.Done():
		return 0, context.Cause(i.ctx)
	}
}
