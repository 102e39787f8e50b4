package netreason

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/actions/egress"
)

// Max is the length in bytes of the longest reason.
const Max = 256

// Limits are the times that an action lets connecting take, which reasons name.
type Limits struct {
	Dial time.Duration // of name lookup and connecting
	TLS  time.Duration // of the TLS handshake
}

// Reason is [Limits.Reason] with the limits of package egress.
func Reason(err error) string {
	return Limits{Dial: egress.DialTimeout, TLS: egress.TLSTimeout}.Reason(err)
}

// Reason explains why a response is missing or incomplete. An error without an explanation keeps its
// text, on one line and without the URL and addresses that the standard library adds.
//
// If the attempt's context has ended, use [Ended]: err is then arbitrary.
func (l Limits) Reason(err error) string {
	for _, explain := range []func(error) string{refused, lookup, l.secure, system, closed, l.silent} {
		if s := explain(err); s != "" {
			return s
		}
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		err = fmt.Errorf("%s: %w", e.Op, e.Err)
	}
	text := err.Error()
	if _, cause, ok := strings.Cut(text, "transport connection broken: "); ok { // by net/http
		text = cause
	}
	return Line(strings.TrimPrefix(strings.TrimPrefix(text, "net/"), "http: "), Max)
}

// refused explains that jobs must not reach an address.
func refused(err error) string {
	if e, ok := errors.AsType[*egress.RefusedError](err); ok {
		return Line(e.Error(), Max)
	}
	return ""
}

// lookup explains that a name has no address.
func lookup(err error) string {
	e, ok := errors.AsType[*net.DNSError](err)
	switch {
	case !ok:
		return ""
	case e.IsNotFound && e.Name != "":
		return Line("name not found: "+e.Name, Max)
	case e.IsNotFound:
		return "name not found"
	case e.IsTimeout:
		return "name lookup timed out"
	}
	return Line("name lookup: "+e.Err, Max)
}

// secure explains what TLS ends with.
func (l Limits) secure(err error) string {
	if e, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		if string(e.RecordHeader[:]) == "HTTP/" {
			return "TLS: the host answers in plain HTTP"
		}
		return "TLS: the host does not speak TLS"
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "TLS: the certificate is not valid for the host name"
	}
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return Line("TLS: "+strings.TrimPrefix(e.Err.Error(), "x509: "), Max)
	}
	if e := operation(err, "remote error"); e != nil { // an alert, by crypto/tls, whose own type for them is not exported
		return Line("TLS: the host answered: "+strings.TrimPrefix(e.Err.Error(), "tls: "), Max)
	}
	if strings.Contains(err.Error(), "TLS handshake timeout") { // by net/http, which has no type for it
		return fmt.Sprintf("TLS: no handshake within %v", l.TLS)
	}
	return ""
}

// explained maps an error of the operating system to words.
type explained struct {
	errno  syscall.Errno
	reason string
}

// system explains an error of the operating system.
func system(err error) string {
	for _, e := range errnos {
		if errors.Is(err, e.errno) {
			return e.reason
		}
	}
	return ""
}

// closed explains that a connection has ended before its time.
func closed(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || // net/http closes a connection that the host has closed, while it writes
		strings.Contains(err.Error(), "server closed idle connection") { // by net/http, which does not export it
		return "connection closed by the host"
	}
	return ""
}

// silent explains that nothing came in time.
func (l Limits) silent(err error) string {
	if e := operation(err, "dial"); e != nil && e.Timeout() {
		return fmt.Sprintf("no connection within %v", l.Dial)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return "the host is silent"
	}
	return ""
}

// operation returns the error of an operation of package net, such as dial, which may be wrapped in another
// operation's error; or nil.
func operation(err error, name string) *net.OpError {
	for {
		e, ok := errors.AsType[*net.OpError](err)
		switch {
		case !ok:
			return nil
		case e.Op == name:
			return e
		}
		err = e.Err
	}
}

// Ended explains why an attempt's context has ended, or returns "" if it has not. stage is the current activity,
// such as "while connecting", or "". timeout is the attempt's timeout, or 0; elapsed is the time since it
// started.
//
// Ended reports timeout ("timed out after 60s"), or elapsed if the caller's deadline ended the attempt much
// earlier: by more than a sixteenth and more than 250 ms.
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

// Explain explains why a response is missing or incomplete: with [Ended] if the context has ended, else from
// err.
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

// Cut returns at most the first limit bytes of a text, as valid UTF-8: it drops a character that would be cut
// and replaces invalid bytes by U+FFFD.
func Cut(text string, limit int) string {
	if len(text) > limit+utf8.UTFMax {
		text = text[:limit+utf8.UTFMax] // what follows cannot matter
	}
	if !utf8.ValidString(text[:End(text, limit)]) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	return text[:End(text, limit)]
}

// Line returns the beginning of a text as one line, at most limit bytes of
// valid UTF-8: control characters count as white space, and each run of that
// becomes one space.
func Line(text string, limit int) string {
	return Cut(strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " "), limit)
}

// End returns the greatest index up to limit at which a text can be cut
// without splitting a character.
func End[T ~string | ~[]byte](text T, limit int) int {
	if len(text) <= limit {
		return len(text)
	}
	for end := limit; end >= 0 && limit-end < utf8.UTFMax; end-- {
		if utf8.RuneStart(text[end]) {
			return end
		}
	}
	return limit // not UTF-8
}
