package payload

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Identity identifies an attempt to its target. Except for a recorded trace, it derives from the ids of the
// occurrence and the attempt, so a worker that repeats an attempt after a crash sends the same identity. Without
// a trace, Identity derives one from the ids and marks it as sampled.
type Identity struct {
	Trace     string // W3C traceparent: one trace for each occurrence, one span for each attempt
	State     string // W3C tracestate; "" for none
	Tag       string // Azure Scheduler's execution tag: 32 hexadecimal digits, of the occurrence
	RequestID string // Azure Scheduler's client request id: a UUID (version 8, RFC 9562), of the attempt
	Expected  string // nominal time, RFC 3339 in UTC, with a fraction if it has one
	Try       string // 1 for the occurrence's first attempt
}

// The places of the parts of an identity in its buffer.
const (
	traceEnd     = 2 + 1 + 32 + 1 + 16 + 1 + 2
	tagEnd       = traceEnd + 32
	requestIDEnd = tagEnd + 36
)

// Identify returns the identity of a. Its parts share one allocation.
func Identify(a scheduler.Attempt) Identity {
	occurrence, attempt := sum(a.Occurrence), sum(a.ID)
	uuid := attempt[8:24]
	uuid[6] = uuid[6]&0x0f | 0x80
	uuid[8] = uuid[8]&0x3f | 0x80

	b := make([]byte, 0, 192)
	b = append(b, "00-"...)
	b = hex.AppendEncode(b, occurrence[:16])
	b = append(b, '-')
	b = hex.AppendEncode(b, attempt[:8])
	b = append(b, "-01"...)
	b = hex.AppendEncode(b, occurrence[16:])
	for i, part := range [][]byte{uuid[:4], uuid[4:6], uuid[6:8], uuid[8:10], uuid[10:]} {
		if i > 0 {
			b = append(b, '-')
		}
		b = hex.AppendEncode(b, part)
	}
	b = a.Nominal.UTC().AppendFormat(b, time.RFC3339Nano)
	expectedEnd := len(b)
	b = strconv.AppendInt(b, int64(a.Try), 10)

	s := string(b)
	id := Identity{
		Trace: s[:traceEnd], Tag: s[traceEnd:tagEnd], RequestID: s[tagEnd:requestIDEnd],
		Expected: s[requestIDEnd:expectedEnd], Try: s[expectedEnd:],
	}
	if a.Trace.Parent != "" {
		id.Trace, id.State = a.Trace.Parent, a.Trace.State
	}
	return id
}

// sum is the SHA-256 of s, without allocating for ids of usual length.
func sum(s string) [sha256.Size]byte {
	var buf [256]byte
	return sha256.Sum256(append(buf[:0], s...))
}

// maxFailure limits the failure message that an errorAction sends, in bytes.
const maxFailure = 1024

// Field is a name and a value with which an errorAction describes the failure.
type Field struct {
	Name, Value string
}

// FailureFields returns the fields that an errorAction sends: x-carillon-failed-status (0 if the target sent
// none), x-carillon-failed-attempts and x-carillon-failed-message. The message is one line of printable ASCII,
// at most 1,024 bytes; a cut message ends with "...". FailureFields returns nil for a main action.
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

// plainer replaces the common non-ASCII characters of messages.
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
