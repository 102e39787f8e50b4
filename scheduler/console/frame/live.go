package frame

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/throttle"
)

// Live is the answer to an EventSource: parts of a page, as they change.
type Live struct {
	call *Call
	out  *http.ResponseController
	last map[string]string
}

// Beat is how often a live answer says that it is there: what lies between may end a connection that is silent.
const Beat = 15 * time.Second

// livePatience is how long a browser may take no data: what holds a live answer is not kept for one that is gone.
const livePatience = 10 * time.Second

// Live begins a live answer, of a route that says so. The address of it must have the parameter follow, which says that it
// lasts.
//
// The page has an element with data-events="ADDRESS" and data-parts="NAME NAME…": the script takes the name of each of these
// events for the id of an element, and its data for what that has from now on; of one that is no element's, it keeps the id.
// An event named "end" is the last one, and says why. When a page is looked at again that was hidden, the parameter after of
// the address is the last id, if it has one.
func (c *Call) Live() *Live {
	if !c.lasts {
		panic("console: " + c.Request.URL.Path + " is not of a live route")
	}
	h := c.Writer.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("X-Accel-Buffering", "no")
	if r, ok := c.Writer.(*response); ok {
		r.live = true
	}
	c.Writer.WriteHeader(http.StatusOK)
	l := &Live{call: c, out: http.NewResponseController(c.Writer), last: map[string]string{}}
	_ = l.send("", "", "hello")
	return l
}

// Lasts takes a place among the requests that may last, until leave is called; the error is a [Problem] when there is none. Live
// routes have theirs.
func (c *Call) Lasts() (leave func(), err error) {
	leave, err = c.frame.live.Take(payer(c.Who))
	full, ok := errors.AsType[*throttle.Full](err)
	switch {
	case !ok:
		return leave, err
	case full.Own:
		return nil, Problem{
			Status: http.StatusTooManyRequests, Text: c.Say("frame.full.own", full.Most), Hint: c.Say("frame.full.own.hint"),
		}
	}
	return nil, Problem{Status: http.StatusServiceUnavailable, Text: c.Say("frame.full", full.Most), Hint: c.Say("frame.full.hint")}
}

// End tells why nothing more comes: the browser does not come again by itself.
func (l *Live) End(p Problem) error {
	text, err := written(own, "problem", p)
	if err != nil {
		return err
	}
	_ = l.send("end", "", text) // whether it is there or not
	return nil
}

// LastID is the id of the last event that the browser has had before its connection was lost; "" for none.
func (l *Live) LastID() string { return l.call.Request.Header.Get("Last-Event-Id") }

// Part sends a template as the new content of the element id, unless it has that already.
func (l *Live) Part(id string, t Set, name string, data any) error {
	text, err := written(t, name, data)
	if was, sent := l.last[id]; err != nil || sent && was == text {
		return err
	}
	l.last[id] = text
	return l.send(id, "", text)
}

// Add sends a template that comes before what the element id has. mark is what [Live.LastID] is after a lost connection.
func (l *Live) Add(id, mark string, t Set, name string, data any) error {
	text, err := written(t, name, data)
	if err != nil {
		return err
	}
	return l.send("add:"+id, mark, text)
}

// Event sends an event for a script of the page.
func (l *Live) Event(name, mark, data string) error { return l.send(name, mark, data) }

// StillThere sends something that no script sees: [Beat] says how often.
func (l *Live) StillThere() error { return l.send("", "", "") }

func (l *Live) send(name, mark, data string) error {
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
	_ = l.out.SetWriteDeadline(time.Now().Add(livePatience)) // where there is no connection, there is no need
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

// errGone says that whoever read a live answer does so no more. It is nobody's mistake.
var errGone = errors.New("the reader has gone")

// ended is what is done about the error with which a live answer ended. Nothing can be told there any more: a page would be
// taken for a part of it. The browser comes again by itself, and is told then.
func (f *Frame) ended(c *Call, err error) {
	if errors.Is(err, errGone) || c.Context().Err() != nil || c.Describe(err).Status != http.StatusInternalServerError {
		return
	}
	f.log.ErrorContext(c.Context(), "live answer ended because of a defect", "path", c.Request.URL.Path, "err", err)
}

func written(t Set, name string, data any) (string, error) {
	var out strings.Builder
	err := t().ExecuteTemplate(&out, name, data)
	return out.String(), err
}
