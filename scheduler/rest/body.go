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

// readContent returns the request's body, up to most bytes.
func readContent(w http.ResponseWriter, r *http.Request, most int) ([]byte, error) {
	rest := http.MaxBytesReader(w, r.Body, maxDrained)
	body, err := io.ReadAll(io.LimitReader(rest, int64(most)+1))
	size := strconv.Itoa(len(body))
	if err == nil && len(body) > most {
		var more int64
		more, err = io.Copy(io.Discard, rest)
		size = strconv.Itoa(len(body) + int(more))
	}
	if _, endless := errors.AsType[*http.MaxBytesError](err); endless {
		size, err = "more than "+strconv.Itoa(maxDrained), nil
	}
	if err == nil && len(body) > most {
		limit := strconv.Itoa(most)
		if most >= 1<<10 {
			limit += fmt.Sprintf(" (%d KB)", most>>10)
		}
		return nil, fault{
			http.StatusRequestEntityTooLarge, "RequestTooLarge",
			"the body is " + size + " bytes long, at most " + limit + " are allowed",
		}
	}
	if err != nil {
		return nil, scheduler.Invalid("", "the body ends before its time: "+err.Error())
	}
	return body, nil
}

// readBody returns the document in the request's body, of at most [scheduler.MaxJobSize] bytes.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := readContent(w, r, scheduler.MaxJobSize)
	if err != nil {
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if strings.HasSuffix(kind, "xml") || bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) {
		return nil, fault{http.StatusUnsupportedMediaType, "UnsupportedMediaType", "the body is XML; send JSON or YAML"}
	}
	return body, nil
}

// lasting returns the context of an edit, which continues after the client disconnects.
func lasting(r *http.Request) context.Context { return context.WithoutCancel(r.Context()) }
