package netreason

import (
	"context"
	"errors"
	"strconv"
	"time"
)

// Ended says why an attempt's context has ended; it returns "" when it has
// not. stage is what the attempt was doing, such as "while connecting"; "" is
// not told. timeout is the attempt's own, 0 for none, and elapsed the time
// since its start.
//
// The time that is told is the attempt's timeout ("timed out after 60s"), or
// what has elapsed when the caller's deadline came well before, which is by
// more than a sixteenth and more than 250 ms.
func Ended(ctx context.Context, stage string, timeout, elapsed time.Duration) string {
	if stage != "" {
		stage = " " + stage
	}
	switch {
	case ctx.Err() == nil:
		return ""
	case !errors.Is(ctx.Err(), context.DeadlineExceeded):
		return Line("canceled"+stage+": "+context.Cause(ctx).Error(), Max)
	}
	if timeout <= 0 || elapsed < timeout-max(timeout/16, wellBefore) {
		timeout = elapsed.Round(time.Millisecond)
	}
	return "timed out after " + seconds(timeout) + stage
}

// Explain says why there is no answer, or only a part of one: the end of the attempt's context if that has ended, as
// [Ended] says it, else err.
func Explain(ctx context.Context, err error, timeout, elapsed time.Duration) string {
	if text := Ended(ctx, "", timeout, elapsed); text != "" {
		return text
	}
	return Reason(err)
}

const wellBefore = 250 * time.Millisecond

// seconds is a time in seconds, or in less when it is shorter than one.
func seconds(d time.Duration) string {
	if d < time.Second {
		return d.String()
	}
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"
}
