package store

import (
	"strconv"
	"strings"
	"time"
)

// delivered is what the subject for the acknowledgement of a delivered message
// tells of it (NATS ADR-15):
//
//	$JS.ACK.<stream>.<consumer>.<deliveries>.<sequence>.<of the consumer>.<time>.<pending>
//	$JS.ACK.<domain>.<account>.<stream>.<consumer>.<deliveries>.<sequence>.<of the consumer>.<time>.<pending>[.<any>]
type delivered struct {
	stream     string
	sequence   uint64
	deliveries int
	stored     time.Time
}

// readDelivered reads such a subject. The client library does too, and makes
// garbage of it for each message.
func readDelivered(reply string) (d delivered, ok bool) {
	rest, ok := strings.CutPrefix(reply, "$JS.ACK.")
	if !ok {
		return d, false
	}
	switch tokens := strings.Count(rest, ".") + 1; {
	case tokens == 7:
	case tokens >= 9:
		_, rest, _ = strings.Cut(rest, ".") // domain
		_, rest, _ = strings.Cut(rest, ".") // account
	default:
		return d, false
	}
	d.stream, rest, _ = strings.Cut(rest, ".")
	_, rest, _ = strings.Cut(rest, ".") // consumer
	var numbers [4]uint64
	for i := range numbers {
		var token string
		var err error
		token, rest, _ = strings.Cut(rest, ".")
		if numbers[i], err = strconv.ParseUint(token, 10, 63); err != nil {
			return d, false
		}
	}
	d.deliveries, d.sequence, d.stored = int(numbers[0]), numbers[1], time.Unix(0, int64(numbers[3]))
	return d, true
}
