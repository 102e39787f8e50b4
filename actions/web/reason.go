package web

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/carillon-sched/carillon/actions/egress"
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
	{syscall.EPIPE, "connection closed by the host while the request was sent"},
	{syscall.ECONNABORTED, "connection aborted"},
	{syscall.EHOSTUNREACH, "host unreachable"},
	{syscall.ENETUNREACH, "network unreachable"},
	{syscall.ETIMEDOUT, "connection timed out"},
	{syscall.EADDRNOTAVAIL, "no local port left"},
	{syscall.EMFILE, "too many open files in the scheduler"},
	{syscall.ENFILE, "too many open files on the scheduler's machine"},
}

// reason says in a few words why a request got no answer, or only a part of
// one. ctx is the attempt's context and elapsed the time since its start.
func reason(ctx context.Context, err error, timeout, elapsed time.Duration) string {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "timed out after " + seconds(timeout, elapsed)
	case ctx.Err() != nil:
		return "canceled: " + context.Cause(ctx).Error()
	}
	for _, explain := range []func(error) string{refusedReason, lookupReason, tlsReason, errnoReason, closedReason, dialReason} {
		if s := explain(err); s != "" {
			return s
		}
	}
	if op, ok := errors.AsType[*net.OpError](err); ok { // without the addresses, which say nothing to people
		err = fmt.Errorf("%s: %w", op.Op, op.Err)
	}
	text := err.Error()
	if _, cause, ok := strings.Cut(text, "transport connection broken: "); ok {
		text = cause
	}
	text = strings.TrimPrefix(strings.TrimPrefix(text, "net/"), "http: ")
	return cut(strings.ToValidUTF8(text, "\uFFFD"), maxReason)
}

// seconds names the time after which an attempt timed out: the configured
// timeout, or less when the caller's deadline came well before it.
func seconds(timeout, elapsed time.Duration) string {
	if timeout <= 0 || elapsed < timeout-timeout/16 {
		timeout = elapsed.Round(time.Millisecond)
	}
	if timeout%time.Second == 0 {
		return fmt.Sprintf("%ds", timeout/time.Second)
	}
	return timeout.String()
}

func refusedReason(err error) string {
	if refused, ok := errors.AsType[*egress.RefusedError](err); ok {
		return refused.Error()
	}
	return ""
}

func lookupReason(err error) string {
	var dns *net.DNSError
	switch {
	case !errors.As(err, &dns):
		return ""
	case dns.IsNotFound:
		return "name not found"
	case dns.IsTimeout:
		return "name lookup timed out"
	}
	return "name lookup: " + dns.Err
}

func tlsReason(err error) string {
	var (
		certificate *tls.CertificateVerificationError
		host        x509.HostnameError
		op          *net.OpError
		record      tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &record) && string(record.RecordHeader[:]) == "HTTP/":
		return "TLS: the host answers in plain HTTP"
	case errors.As(err, &record):
		return "TLS: the host does not speak TLS"
	case errors.As(err, &host):
		return "TLS: the certificate is not valid for the host name"
	case errors.As(err, &certificate):
		return cut("TLS: "+strings.TrimPrefix(certificate.Err.Error(), "x509: "), maxReason)
	case errors.As(err, &op) && op.Op == "remote error": // an alert, by crypto/tls
		return "TLS: the host answered: " + strings.TrimPrefix(op.Err.Error(), "tls: ")
	case strings.Contains(err.Error(), "TLS handshake timeout"):
		return fmt.Sprintf("TLS: no handshake within %v", tlsTimeout)
	}
	return ""
}

func errnoReason(err error) string {
	for _, e := range errnoReasons {
		if errors.Is(err, e.errno) {
			return e.reason
		}
	}
	return ""
}

func closedReason(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		strings.HasSuffix(err.Error(), "server closed idle connection") {
		return "connection closed by the host"
	}
	return ""
}

func dialReason(err error) string {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" && op.Timeout() {
		return fmt.Sprintf("no connection within %v", dialTimeout)
	}
	return ""
}
