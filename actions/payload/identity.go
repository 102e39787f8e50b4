package payload

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Identity is what an attempt tells its target about itself. But for the trace of one that is traced, it follows from the
// ids of the occurrence and the attempt alone, so a worker that repeats an attempt after a crash sends the same. Without a
// trace, one is made of these, and marked as sampled.
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
