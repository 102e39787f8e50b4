package payload

import (
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
)

// maxFailure is the length in bytes of the longest message that an errorAction tells its target.
const maxFailure = 1024

// Field is a name and a value that an errorAction tells its target about what failed.
type Field struct {
	Name, Value string
}

// FailureFields returns what an errorAction tells its target: x-carillon-failed-status (0 when the target gave none),
// x-carillon-failed-attempts and x-carillon-failed-message, the last as one line of printable ASCII with at most 1,024
// bytes, which ends with "..." when it was cut. It returns nil for a main action.
func FailureFields(a scheduler.Attempt) []Field {
	if a.Failure == nil {
		return nil
	}
	return []Field{
		{"x-carillon-failed-status", strconv.Itoa(a.Failure.Status)},
		{"x-carillon-failed-attempts", strconv.Itoa(a.Failure.Attempts)},
		{"x-carillon-failed-message", failureLine(a.Failure.Message)},
	}
}

// plainer spells out what messages often hold beside ASCII.
var plainer = strings.NewReplacer("…", "...", "“", `"`, "”", `"`, "‘", "'", "’", "'", "–", "-", "—", "-")

// failureLine returns a message as one line of printable ASCII: runs of white space and control characters become one
// space, other characters a question mark.
func failureLine(message string) string {
	var b strings.Builder
	gap := false
	for _, r := range plainer.Replace(message) {
		if r <= ' ' || r == 0x7f || r == 0x85 || r == 0xa0 {
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte(' ')
		}
		gap = false
		if r > '~' {
			r = '?'
		}
		b.WriteByte(byte(r))
		if b.Len() > maxFailure {
			return strings.TrimRight(b.String()[:maxFailure-len("...")], " ") + "..."
		}
	}
	return b.String()
}
