package rest

import (
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/control"
)

// tailForm is the encoding of a live tail.
type tailForm struct {
	contentType string

	// beyond accepts a position after the last record and reports it in the tail. A browser would not reconnect after
	// an error status.
	beyond bool

	begin  func(asked *uint64, b control.Beginning) []byte
	record func(sequence uint64, document []byte) []byte
	life   func(passed uint64) []byte // keepalive
	end    func(why error) []byte
}

// lines encodes one record per line.
var lines = tailForm{
	contentType: "application/x-ndjson; charset=utf-8",
	begin:       func(*uint64, control.Beginning) []byte { return nil },
	record:      func(_ uint64, document []byte) []byte { return append(document, '\n') },
	life:        func(uint64) []byte { return []byte("\n") },
	end:         func(why error) []byte { return append(v1.JSON(v1.NewEnd(why)), '\n') },
}

// events encodes server-sent events (HTML, "Server-sent events").
var events = tailForm{
	contentType: eventStream,
	beyond:      true,
	begin:       beginEvents,
	record: func(sequence uint64, document []byte) []byte {
		return fmt.Appendf(nil, "id: %d\ndata: %s\n\n", sequence, document)
	},
	life: func(passed uint64) []byte {
		if passed == 0 {
			return []byte(": alive\n\n")
		}
		return fmt.Appendf(nil, ": alive\nid: %d\n\n", passed)
	},
	end: func(why error) []byte {
		return fmt.Appendf(nil, "event: end\ndata: %s\n\n", v1.JSON(v1.DescribeError(why)))
	},
}

const eventStream = "text/event-stream"

// eventsPause is how long a browser waits before it reconnects.
const eventsPause = 2 * time.Second

// beginEvents returns the first event: the position, so that a client that loses the connection before the first record
// can resume, and an event gap if the requested position is no longer retained.
func beginEvents(asked *uint64, b control.Beginning) []byte {
	out := fmt.Appendf(nil, "retry: %d\nid: %d\n\n", eventsPause.Milliseconds(), b.After)
	if gap := v1.HistoryGap(asked, b.First, b.Last); gap != nil {
		out = fmt.Appendf(out, "event: gap\ndata: %s\n\n", v1.JSON(gap))
	}
	return out
}

// tailFormOf returns the form of the requested live tail of an operation; nil if the request is for a page.
func tailFormOf(op *api.Operation, r *http.Request) (*tailForm, error) {
	query := r.URL.Query()
	if query.Get("follow") == "" {
		if op.Events && !query.Has("follow") && acceptsEvents(r) {
			return &events, nil
		}
		return nil, nil //nolint:nilnil // a page
	}
	if follow, err := strconv.ParseBool(query.Get("follow")); err != nil || !follow {
		return nil, nil //nolint:nilerr,nilnil // a page, or a value that read refuses
	}
	switch as := query.Get("as"); {
	case strings.EqualFold(as, "sse"), op.Events && as == "" && acceptsEvents(r):
		return &events, nil
	case as == "", strings.EqualFold(as, "ndjson"):
		return &lines, nil
	default:
		return nil, scheduler.Invalid("as", fmt.Sprintf("%q is not a form of live tails: ndjson or sse", as))
	}
}

// Streams reports whether a request may be for a live tail, which lasts until its client disconnects.
func Streams(r *http.Request) bool { return r.URL.Query().Has("follow") || acceptsEvents(r) }

// acceptsEvents reports whether the Accept header requests server-sent events.
func acceptsEvents(r *http.Request) bool {
	for _, header := range r.Header.Values("Accept") {
		for accepted := range strings.SplitSeq(header, ",") {
			if t, _, err := mime.ParseMediaType(accepted); err == nil && t == eventStream {
				return true
			}
		}
	}
	return false
}

// lastEventHeader has the id of the last event that a reconnecting browser has received. It takes precedence over the
// parameter after, because a reconnecting browser repeats the query of its first request.
const lastEventHeader = "Last-Event-ID"

// The headers of a live tail.
const (
	sequenceHeader = "Carillon-Sequence"       // the tail begins after this record
	firstHeader    = "Carillon-First-Sequence" // the first retained record
)

func (f *tailForm) head(h http.Header, b control.Beginning) {
	h.Set("Content-Type", f.contentType)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // a buffering proxy would delay each record
	h.Set(sequenceHeader, strconv.FormatUint(b.After, 10))
	if b.First > 0 {
		h.Set(firstHeader, strconv.FormatUint(b.First, 10))
	}
}
