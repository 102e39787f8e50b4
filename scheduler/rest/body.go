package rest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/carillon-sched/carillon/scheduler"
)

// maxDrained is how much of a body is read at most, to be able to say how long
// it is, and to answer a client that does not look up before it is done.
const maxDrained = 1 << 20

// readBody returns the request's body, of at most [scheduler.MaxJobSize] bytes.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	rest := http.MaxBytesReader(w, r.Body, maxDrained)
	body, err := io.ReadAll(io.LimitReader(rest, scheduler.MaxJobSize+1))
	if err == nil && len(body) > scheduler.MaxJobSize {
		var more int64
		more, err = io.Copy(io.Discard, rest)
		if err == nil {
			return nil, scheduler.CheckSize(len(body) + int(more))
		}
	}
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, fault{http.StatusRequestEntityTooLarge, "RequestTooLarge", fmt.Sprintf(
			"the body is longer than %d bytes; a document may have %d", maxDrained, scheduler.MaxJobSize,
		)}
	}
	if err != nil {
		return nil, scheduler.Invalid("", "the body ends before its time: "+err.Error())
	}
	return body, nil
}

// lasting is the context of an edit: it does not end with the client.
func lasting(r *http.Request) context.Context { return context.WithoutCancel(r.Context()) }
