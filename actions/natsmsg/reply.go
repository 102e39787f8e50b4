package natsmsg

import (
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/carillon-sched/carillon/actions/netreason"
	"github.com/carillon-sched/carillon/scheduler"
)

// Names of headers of answers.
const (
	headerStatus      = "Status" // of the first line, NATS/1.0 503 …
	headerDescription = "Description"
	headerRetryAfter  = "Retry-After" // seconds, as HTTP has it
)

// verdict is what an answer's headers say.
type verdict struct {
	failed     bool
	status     int
	text       string
	retryAfter time.Duration
}

// judgeReply looks for an error in the headers of an answer: those of a micro
// service, or a status of 400 and above. An error code that is no status of
// HTTP counts as 500.
func judgeReply(h nats.Header) verdict {
	code, text := h.Get(micro.ErrorCodeHeader), h.Get(micro.ErrorHeader)
	if code == "" && text == "" {
		code, text = h.Get(headerStatus), h.Get(headerDescription)
		if n, err := strconv.Atoi(code); err != nil || n < http.StatusBadRequest {
			return verdict{status: http.StatusOK, text: "OK"}
		}
	}
	v := verdict{failed: true, status: http.StatusInternalServerError, text: netreason.Line(code+" "+text, netreason.Max)}
	if n, err := strconv.Atoi(code); err == nil && n >= http.StatusBadRequest && n <= 599 {
		v.status = n
	}
	if s, err := strconv.Atoi(h.Get(headerRetryAfter)); err == nil && s > 0 && s <= int(maxRetryAfter/time.Second) {
		v.retryAfter = time.Duration(s) * time.Second
	}
	return v
}

// maxRetryAfter is the longest wait that is taken seriously.
const maxRetryAfter = 366 * 24 * time.Hour

// excerpt returns the beginning of an answer, at most [scheduler.MaxResponse]
// bytes of valid UTF-8.
func excerpt(data []byte) string {
	return netreason.Cut(string(data[:min(len(data), scheduler.MaxResponse+utf8.UTFMax)]), scheduler.MaxResponse)
}
