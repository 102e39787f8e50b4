package rest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
)

// maxDrained limits how much of a body is read, to report its length and to answer clients that read only after they
// have written everything.
const maxDrained = 1 << 20

// readBody returns the request's body, of at most [scheduler.MaxJobSize] bytes.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	rest := http.MaxBytesReader(w, r.Body, maxDrained)
	body, err := io.ReadAll(io.LimitReader(rest, scheduler.MaxJobSize+1))
	size := strconv.Itoa(len(body))
	if err == nil && len(body) > scheduler.MaxJobSize {
		var more int64
		more, err = io.Copy(io.Discard, rest)
		size = strconv.Itoa(len(body) + int(more))
	}
	if _, endless := errors.AsType[*http.MaxBytesError](err); endless {
		size, err = "more than "+strconv.Itoa(maxDrained), nil
	}
	if err == nil && len(body) > scheduler.MaxJobSize {
		return nil, fault{http.StatusRequestEntityTooLarge, "RequestTooLarge", fmt.Sprintf(
			"the body is %s bytes long, at most %d (16 KB) are allowed", size, scheduler.MaxJobSize,
		)}
	}
	if err != nil {
		return nil, scheduler.Invalid("", "the body ends before its time: "+err.Error())
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if strings.HasSuffix(kind, "xml") || bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) {
		return nil, fault{http.StatusUnsupportedMediaType, "UnsupportedMediaType", "the body is XML; send JSON or YAML"}
	}
	return body, nil
}

// lasting returns the context of an edit, which continues after the client disconnects.
func lasting(r *http.Request) context.Context { return context.WithoutCancel(r.Context()) }
