package rest

import (
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// tailForm is the encoding of a live tail.
type tailForm struct {
	contentType string

	// beyond accepts a position after the last record and reports it in the tail. A browser would not reconnect after
	// an error status.
	beyond bool

	begin  func(asked *uint64, b service.Beginning) []byte
	record func(r *scheduler.Record) []byte
	life   func(passed uint64) []byte // keepalive; records up to passed do not match, 0: unchanged
	end    func(why error) []byte
}

// lines encodes one record per line.
var lines = tailForm{
	contentType: "application/x-ndjson; charset=utf-8",
	begin:       func(*uint64, service.Beginning) []byte { return nil },
	record:      func(r *scheduler.Record) []byte { return append(view.JSON(view.Record(r)), '\n') },
	life:        func(uint64) []byte { return []byte("\n") },
	end:         func(why error) []byte { return append(view.JSON(view.Ending(why)), '\n') },
}

// events encodes server-sent events (HTML, "Server-sent events").
var events = tailForm{
	contentType: eventStream,
	beyond:      true,
	begin:       beginEvents,
	record: func(r *scheduler.Record) []byte {
		return fmt.Appendf(nil, "id: %d\ndata: %s\n\n", r.Sequence, view.JSON(view.Record(r)))
	},
	life: func(passed uint64) []byte {
		if passed == 0 {
			return []byte(": alive\n\n")
		}
		return fmt.Appendf(nil, ": alive\nid: %d\n\n", passed)
	},
	end: func(why error) []byte {
		return fmt.Appendf(nil, "event: end\ndata: %s\n\n", view.JSON(view.DescribeError(why)))
	},
}

const eventStream = "text/event-stream"

// eventsPause is how long a browser waits before it reconnects.
const eventsPause = 2 * time.Second

// beginEvents returns the first event: the position, so that a client that loses the connection before the first record
// can resume, and an event gap if the requested position is no longer retained.
func beginEvents(asked *uint64, b service.Beginning) []byte {
	out := fmt.Appendf(nil, "retry: %d\nid: %d\n\n", eventsPause.Milliseconds(), b.After)
	if gap := view.HistoryGap(asked, b.First, b.Last); gap != nil {
		out = fmt.Appendf(out, "event: gap\ndata: %s\n\n", view.JSON(gap))
	}
	return out
}

// tailFormOf returns the form of the requested live tail; nil if the request is for a page.
func tailFormOf(r *http.Request) (*tailForm, error) {
	query := r.URL.Query()
	follow, err := flag(r, "follow")
	if err != nil {
		return nil, err
	}
	accepts := !query.Has("follow") && acceptsEvents(r)
	if !follow && !accepts {
		return nil, nil //nolint:nilnil // a page
	}
	switch as := query.Get("as"); {
	case strings.EqualFold(as, "sse"), as == "" && acceptsEvents(r):
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

// lastEventHeader has the id of the last event that a reconnecting browser has received.
const lastEventHeader = "Last-Event-ID"

// placeOf returns the position after which a live tail begins; nil: new records only. The header takes precedence,
// because a reconnecting browser repeats the query of its first request.
func placeOf(r *http.Request) (*uint64, error) {
	name, text := lastEventHeader, r.Header.Get(lastEventHeader)
	if text == "" {
		name, text = "after", r.URL.Query().Get("after")
	}
	if text == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	n, err := view.ReadSequence(name, strings.TrimSpace(text))
	return &n, err
}

// The headers of a live tail.
const (
	sequenceHeader = "Carillon-Sequence"       // the tail begins after this record
	firstHeader    = "Carillon-First-Sequence" // the first retained record
)

func (f *tailForm) head(h http.Header, b service.Beginning) {
	h.Set("Content-Type", f.contentType)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // a buffering proxy would delay each record
	h.Set(sequenceHeader, strconv.FormatUint(b.After, 10))
	if b.First > 0 {
		h.Set(firstHeader, strconv.FormatUint(b.First, 10))
	}
}
