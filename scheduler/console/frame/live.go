package frame

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/guard"
	"github.com/carillon-sched/carillon/scheduler/throttle"
)

// Live is an event stream with parts of a page as they change.
type Live struct {
	call *Request
	out  *http.ResponseController
	last map[string]string
}

// Beat is the keepalive interval of a live answer. Proxies close silent connections.
const Beat = 15 * time.Second

// livePatience is how long a browser may read nothing before its live answer is released.
const livePatience = 10 * time.Second

// Live begins the live answer of a live route. Its URL must have the parameter follow, which marks a long request.
//
// The page has an element with data-events="ADDRESS" and data-parts="NAME NAME…". For each of these events, the script
// replaces the content of the element whose id is the event's name by the event's data. If no such element exists, the
// element with data-events gets the DOM event carillon:NAME instead. The event "end" is the last one and has the reason.
// When a hidden page becomes visible again, the script adds the last id, if any, to the URL as the parameter after.
func (c *Request) Live() *Live {
	if !c.lasts {
		panic("console: " + c.Request.URL.Path + " is not of a live route")
	}
	h := c.Writer.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("X-Accel-Buffering", "no")
	c.streams = true
	c.Writer.WriteHeader(http.StatusOK)
	l := &Live{call: c, out: http.NewResponseController(c.Writer), last: map[string]string{}}
	_ = l.StillThere()
	return l
}

// Lasts reserves a place among the long requests until leave is called. The error is a [Problem] if all are in use.
// Live routes have a place already.
func (c *Request) Lasts() (leave func(), err error) {
	leave, err = c.frame.live.Take(guard.RateLimitKey(c.Who))
	full, ok := errors.AsType[*throttle.Full](err)
	switch {
	case !ok:
		return leave, err
	case full.Own:
		return nil, Problem{
			Status: http.StatusTooManyRequests, Text: c.Text("frame.full.own", full.Most), Hint: c.Text("frame.full.own.hint"),
		}
	}
	return nil, Problem{Status: http.StatusServiceUnavailable, Text: c.Text("frame.full", full.Most), Hint: c.Text("frame.full.hint")}
}

// End sends the reason why the stream ends. The browser does not reconnect automatically.
func (l *Live) End(p Problem) error {
	text, err := Written(own, "problem", p)
	if err != nil {
		return err
	}
	_ = l.Event("end", "", text) // best effort
	return nil
}

// Part sends a template as the new content of the element id, unless the content is unchanged.
func (l *Live) Part(id string, t Set, name string, data any) error {
	text, err := Written(t, name, data)
	if was, sent := l.last[id]; err != nil || sent && was == text {
		return err
	}
	l.last[id] = text
	return l.Event(id, "", text)
}

// Parts sends templates as the new contents of the elements that have their names as ids.
func (l *Live) Parts(t Set, data any, names ...string) error {
	for _, name := range names {
		if err := l.Part(name, t, name, data); err != nil {
			return err
		}
	}
	return nil
}

// Held sends the banner of the page, if it has changed. [Live.Every] sends it with each keepalive.
func (l *Live) Held() error {
	return l.Part("held", own, "held", l.call.frame.cfg.Held(l.call.Context()))
}

// StillThere sends a keepalive, which no script sees; see [Beat].
func (l *Live) StillThere() error { return l.Event("", "", "") }

// Every calls do immediately and then at an interval, until it returns an error or [ErrOver], or the reader disconnects. It
// keeps the connection alive.
func (l *Live) Every(interval time.Duration, do func() error) error {
	tick, beat := time.NewTicker(interval), time.NewTicker(Beat)
	defer tick.Stop()
	defer beat.Stop()
	for {
		err := do()
		select {
		case <-beat.C:
			err = errors.Join(err, l.StillThere(), l.Held())
		default:
		}
		if errors.Is(err, ErrOver) {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-l.call.Context().Done():
			return nil
		}
	}
}

// ErrOver ends [Live.Every] without an error.
var ErrOver = errors.New("the live answer has ended")

// Event sends an event for a script of the page. The browser repeats mark, if any, when it reconnects.
func (l *Live) Event(name, mark, data string) error {
	var out bytes.Buffer
	if mark != "" {
		fmt.Fprintf(&out, "id: %s\n", mark)
	}
	if name != "" {
		fmt.Fprintf(&out, "event: %s\n", name)
		for line := range strings.SplitSeq(strings.ReplaceAll(data, "\r", ""), "\n") {
			fmt.Fprintf(&out, "data: %s\n", line)
		}
	} else {
		out.WriteString(":\n")
	}
	out.WriteByte('\n')
	_ = l.out.SetWriteDeadline(time.Now().Add(livePatience)) // a writer without a connection needs no deadline
	_, err := l.call.Writer.Write(out.Bytes())
	if err == nil {
		err = l.out.Flush()
	}
	_ = l.out.SetWriteDeadline(time.Time{})
	if err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	return nil
}

// errGone reports that the reader of a live answer has disconnected. It is not a defect.
var errGone = errors.New("the reader has gone")

// ended handles the error that ended a live answer. It sends nothing: the browser would take a page for a part of the
// stream. The browser reconnects and gets the error then.
func (f *Frame) ended(c *Request, err error) {
	if errors.Is(err, errGone) || c.Context().Err() != nil || c.Describe(err).Status != http.StatusInternalServerError {
		return
	}
	f.log.ErrorContext(c.Context(), "live answer ended because of a defect", "path", c.Request.URL.Path, "err", err)
}

// Written returns an executed template.
func Written(t Set, name string, data any) (string, error) {
	var out strings.Builder
	err := t().ExecuteTemplate(&out, name, data)
	return out.String(), err
}
