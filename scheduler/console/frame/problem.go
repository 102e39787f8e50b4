package frame

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/throttle"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// A Problem is an error for users, with its fix.
type Problem struct {
	Status  int
	Text    string
	Hint    string            // the fix; "": none
	Details document.Problems // problems of the input, by path
}

// Error returns the text.
func (p Problem) Error() string { return p.Text }

// Describe converts an error to a Problem. It omits the text of a defect.
func (c *Call) Describe(err error) Problem {
	if p, ok := errors.AsType[Problem](err); ok {
		return p
	}
	if t, ok := errors.AsType[*throttle.Exceeded](err); ok {
		return Problem{Status: http.StatusTooManyRequests, Text: t.Error()}
	}
	e := view.DescribeError(err)
	_, unknown := errors.AsType[*access.Unknown](err)
	p := Problem{Status: e.Status, Text: e.Message, Details: e.Details}
	switch {
	case errors.Is(err, scheduler.ErrUnavailable):
		p.Hint = c.Say("frame.unavailable.hint")
		if why := c.frame.cfg.Ready(c.Context()); why != nil {
			p.Hint = why.Error()
		}
	case unknown:
		p.Hint = c.Say("frame.unknown.hint")
	case e.Status == http.StatusForbidden:
		p.Hint = c.Say("frame.denied.hint")
	case e.Status == http.StatusInternalServerError:
		p.Hint = c.Say("frame.defect.hint")
	}
	return p
}

// fail answers with an error: a page, or its text if a script requests a part of a page.
func (c *Call) fail(err error) {
	p := c.Describe(err)
	if p.Status == http.StatusInternalServerError {
		c.frame.log.ErrorContext(c.Context(), "request failed because of a defect",
			"method", c.Request.Method, "path", c.Request.URL.Path, "err", err)
	}
	if t, ok := errors.AsType[*throttle.Exceeded](err); ok {
		c.Writer.Header().Set("Retry-After", strconv.Itoa(max(1, int(t.After.Round(time.Second)/time.Second))))
	}
	if _, unknown := errors.AsType[*access.Unknown](err); unknown && !c.Part() {
		c.signIn(p.Text)
		return
	}
	if c.Part() {
		_ = c.Show(&Page{Status: p.Status, Template: own, Part: "problem", Data: p})
		return
	}
	_ = c.Show(&Page{Status: p.Status, Title: heading(p.Status), Template: own, Data: p})
}

// heading returns the heading of an error page by status.
func heading(status int) string {
	if key := "frame.status." + strconv.Itoa(status); words.Has(key) {
		return words.Say(key)
	}
	return http.StatusText(status)
}
