package storagequeue

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// maxReason is the length in bytes of the longest reason recorded.
const maxReason = 256

// reason says in a few words why there is no answer, or only a part of one. It shows no URL, which has the token in it.
func (x *exchange) reason(ctx context.Context) string {
	err := x.err
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "timed out after " + x.patience()
	case ctx.Err() != nil:
		return clip("canceled: "+context.Cause(ctx).Error(), maxReason)
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		if dns.IsNotFound {
			return "name not found. Hint: there may be no account of that name."
		}
		return clip("name lookup: "+dns.Err, maxReason)
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok && errno != syscall.EPIPE {
		return errno.Error()
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.EPIPE) ||
		strings.Contains(err.Error(), "server closed idle connection") {
		return "connection closed by the host"
	}
	if inner, ok := errors.AsType[*url.Error](err); ok {
		err = inner.Err
	}
	if op, ok := errors.AsType[*net.OpError](err); ok { // without the addresses, which say nothing to people
		err = op.Err
	}
	text := strings.TrimPrefix(err.Error(), "net/http: ")
	if _, cause, ok := strings.Cut(text, "transport connection broken: "); ok {
		text = cause
	}
	return clip(text, maxReason)
}

// patience is the time after which the attempt timed out: the configured timeout, or less when the caller's deadline came
// well before it.
func (x *exchange) patience() string {
	patience := x.timeout
	if elapsed := time.Since(x.start); patience <= 0 || elapsed < patience-patience/16 {
		patience = elapsed.Round(time.Millisecond)
	}
	return strconv.FormatFloat(patience.Seconds(), 'f', -1, 64) + "s"
}

// clip is the beginning of a text, in at most limit bytes of valid UTF-8.
func clip(text string, limit int) string {
	if len(text) > limit {
		text = text[:limit]
	}
	return strings.ToValidUTF8(text, "")
}
