package servicebus

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
)

// maxReason is the length in bytes of the longest reason recorded.
const maxReason = 256

// errnoReasons names the errors of the operating system that people meet.
var errnoReasons = []struct {
	errno  syscall.Errno
	reason string
}{
	{syscall.ECONNREFUSED, "connection refused"},
	{syscall.ECONNRESET, "connection reset by the host"},
	{syscall.EPIPE, "connection closed by the host"},
	{syscall.ECONNABORTED, "connection aborted"},
	{syscall.EHOSTUNREACH, "host unreachable"},
	{syscall.ENETUNREACH, "network unreachable"},
	{syscall.ETIMEDOUT, "connection timed out"},
	{syscall.EMFILE, "too many open files in the scheduler"},
	{syscall.ENFILE, "too many open files on the scheduler's machine"},
}

// reason says in a few words why there was no answer.
func reason(err error) string {
	for _, explain := range []func(error) string{lookupReason, tlsReason, errnoReason, silenceReason} {
		if s := explain(err); s != "" {
			return s
		}
	}
	prefix := ""
	if lost, ok := errors.AsType[*lostError](err); ok {
		prefix, err = lost.prefix(), lost.cause
	}
	if op, ok := errors.AsType[*net.OpError](err); ok { // without the addresses, which say nothing to people
		err = op.Err
	}
	return cut(oneLine(prefix+err.Error()), maxReason)
}

func lookupReason(err error) string {
	dns, ok := errors.AsType[*net.DNSError](err)
	switch {
	case !ok:
		return ""
	case dns.IsNotFound:
		return "name not found: " + dns.Name
	case dns.IsTimeout:
		return "name lookup timed out"
	}
	return "name lookup: " + dns.Err
}

func tlsReason(err error) string {
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return "TLS: the host does not speak TLS"
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "TLS: the certificate is not valid for the host name"
	}
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return cut("TLS: "+strings.TrimPrefix(e.Err.Error(), "x509: "), maxReason)
	}
	if e, ok := errors.AsType[tls.AlertError](err); ok {
		return "TLS: the host answered: " + strings.TrimPrefix(e.Error(), "tls: ")
	}
	return ""
}

func errnoReason(err error) string {
	for _, e := range errnoReasons {
		if errors.Is(err, e.errno) {
			return lostPrefix(err) + e.reason
		}
	}
	return ""
}

func silenceReason(err error) string {
	op, ok := errors.AsType[*net.OpError](err)
	switch {
	case ok && op.Op == "dial" && op.Timeout():
		return fmt.Sprintf("no connection within %v", dialTimeout)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return lostPrefix(err) + "the host is silent"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return lostPrefix(err) + "connection closed by the host"
	}
	return ""
}

func lostPrefix(err error) string {
	if lost, ok := errors.AsType[*lostError](err); ok {
		return lost.prefix()
	}
	return ""
}

// lostError is an error of the network connection, which the SDK hides.
type lostError struct {
	sent  bool // a message may have got through
	cause error
}

// Error implements error.
func (e *lostError) Error() string { return e.prefix() + e.cause.Error() }

// Unwrap returns the cause.
func (e *lostError) Unwrap() error { return e.cause }

func (e *lostError) prefix() string {
	if e.sent {
		return "no acknowledgement, the message may have arrived: "
	}
	return ""
}

// oneLine returns s as one line of valid UTF-8.
func oneLine(s string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
}

// cut shortens s to at most limit bytes without splitting a rune.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}
