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

// tailForm is how a live tail is written.
type tailForm struct {
	contentType string

	// beyond has a place after the last record told, and not refused: a browser would not come again.
	beyond bool

	begin  func(asked *uint64, b service.Beginning) []byte
	record func(r *scheduler.Record) []byte
	life   func(passed uint64) []byte // a sign of it; passed is the place up to which nothing else is wanted, 0: unchanged
	end    func(why error) []byte
}

// lines is the form of one record on a line.
var lines = tailForm{
	contentType: "application/x-ndjson; charset=utf-8",
	begin:       func(*uint64, service.Beginning) []byte { return nil },
	record:      func(r *scheduler.Record) []byte { return append(view.JSON(view.Record(r)), '\n') },
	life:        func(uint64) []byte { return []byte("\n") },
	end:         func(why error) []byte { return append(view.JSON(view.Ending(why)), '\n') },
}

// events is the form of server-sent events (HTML, "Server-sent events").
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

// eventsPause is how long a browser waits before it comes again.
const eventsPause = 2 * time.Second

// beginEvents says where events begin: with the place, so that a client that loses the connection before the first of them
// does not lose that, and with an event gap where the place that was asked for is not kept any more.
func beginEvents(asked *uint64, b service.Beginning) []byte {
	out := fmt.Appendf(nil, "retry: %d\nid: %d\n\n", eventsPause.Milliseconds(), b.After)
	if gap := view.HistoryGap(asked, b.First, b.Last); gap != nil {
		out = fmt.Appendf(out, "event: gap\ndata: %s\n\n", view.JSON(gap))
	}
	return out
}

// tailFormOf is the form in which a request asks for a live tail; nil when it asks for a page.
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

// Streams reports whether a request may ask for a live tail, which lasts until its client goes.
func Streams(r *http.Request) bool { return r.URL.Query().Has("follow") || acceptsEvents(r) }

// acceptsEvents reports whether a request asks for server-sent events by its header.
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

// lastEventHeader is where a browser says which event it had last.
const lastEventHeader = "Last-Event-ID"

// placeOf is the place after which a live tail is to begin; nil: from now on. A browser that comes again has the query of
// its first request, so that its header counts.
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
	sequenceHeader = "Carillon-Sequence"       // after which record it begins
	firstHeader    = "Carillon-First-Sequence" // which is the first that is kept
)

func (f *tailForm) head(h http.Header, b service.Beginning) {
	h.Set("Content-Type", f.contentType)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // a proxy that collects an answer before it passes it on would hold back every record
	h.Set(sequenceHeader, strconv.FormatUint(b.After, 10))
	if b.First > 0 {
		h.Set(firstHeader, strconv.FormatUint(b.First, 10))
	}
}
