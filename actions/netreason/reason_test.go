package netreason_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/netreason"
)

var limits = netreason.Limits{Dial: 10 * time.Second, TLS: 5 * time.Second}

// during returns an error of an operation of package net.
func during(op string, err error) error {
	return &net.OpError{Op: op, Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 80}, Err: err}
}

// TestReason has each error in the form in which the standard library, or a
// library of actions, gives it.
func TestReason(t *testing.T) {
	system := func(op, call string, errno syscall.Errno) error { return during(op, os.NewSyscallError(call, errno)) }
	certificate := func(err error) error { return &tls.CertificateVerificationError{Err: err} }
	refused := egress.NewGuard().Check(netip.MustParseAddr("127.0.0.1"))
	const notAllowed = "127.0.0.1 is a loopback address, which jobs must not reach; --allow-target 127.0.0.1/32 allows it"
	for _, test := range []struct {
		want string
		err  error
	}{
		{notAllowed, refused},
		{notAllowed, &url.Error{Op: "Post", URL: "https://h/?sig=TOKEN", Err: during("dial", refused)}},

		{"name not found: h", during("dial", &net.DNSError{Err: "no such host", Name: "h", IsNotFound: true})},
		{"name not found", during("dial", &net.DNSError{Err: "no such host", IsNotFound: true})},
		{"name lookup timed out", during("dial", &net.DNSError{Err: "i/o timeout", Name: "h", IsTimeout: true})},
		{"name lookup: server misbehaving", during("dial", &net.DNSError{Err: "server\nmisbehaving", Name: "h", IsTemporary: true})},

		{"connection refused", system("dial", "connect", syscall.ECONNREFUSED)},
		{"connection refused", during("proxyconnect", system("dial", "connect", syscall.ECONNREFUSED))},
		{"connection reset by the host", system("read", "read", syscall.ECONNRESET)},
		{"connection closed by the host while the request was sent", system("write", "write", syscall.EPIPE)},
		{"connection aborted", system("read", "read", syscall.ECONNABORTED)},
		{"host unreachable", system("dial", "connect", syscall.EHOSTUNREACH)},
		{"network unreachable", system("dial", "connect", syscall.ENETUNREACH)},
		{"connection timed out", system("read", "read", syscall.ETIMEDOUT)},
		{"no local port left", system("dial", "connect", syscall.EADDRNOTAVAIL)},
		{"too many open files in the scheduler", system("dial", "socket", syscall.EMFILE)},
		{"too many open files on the scheduler's machine", system("dial", "socket", syscall.ENFILE)},
		{"dial: connect: " + syscall.EPROTONOSUPPORT.Error(), system("dial", "connect", syscall.EPROTONOSUPPORT)},

		{"connection closed by the host", io.EOF},
		{"connection closed by the host", &net.OpError{Op: "readfrom", Net: "tcp", Err: &net.OpError{Op: "write", Net: "tcp", Err: net.ErrClosed}}},
		{"connection closed by the host", fmt.Errorf("net/http: HTTP/1.x transport connection broken: %w", io.ErrUnexpectedEOF)},
		{"connection closed by the host", errors.New("http: server closed idle connection")},

		{"no connection within 10s", during("dial", os.ErrDeadlineExceeded)},
		{"no connection within 10s", during("proxyconnect", during("dial", os.ErrDeadlineExceeded))},
		{"the host is silent", during("read", os.ErrDeadlineExceeded)},

		{"TLS: the certificate is not valid for the host name", certificate(x509.HostnameError{Certificate: &x509.Certificate{}, Host: "h"})},
		{
			"TLS: certificate has expired or is not yet valid: it was 1970",
			certificate(x509.CertificateInvalidError{Reason: x509.Expired, Detail: "it was\n1970"}),
		},
		{"TLS: no handshake within 5s", errors.New("net/http: TLS handshake timeout")},

		{"malformed HTTP response", errors.New("net/http: HTTP/1.x transport connection broken: malformed HTTP response")},
		{"no", &url.Error{Op: "Post", URL: "https://h/?sig=TOKEN", Err: errors.New("no")}},
		{"dial: something new", during("dial", errors.New("something\r\n\tnew"))},
		{"stream error: stream ID 1; INTERNAL_ERROR", errors.New("stream error: stream ID 1; INTERNAL_ERROR")},
		{"a\uFFFDb", errors.New("a\xffb")},
		{strings.Repeat("é", netreason.Max/2), errors.New(strings.Repeat("é", 1000))},
	} {
		if got := limits.Reason(test.err); got != test.want {
			t.Errorf("%v:\ngot  %q\nwant %q", test.err, got, test.want)
		}
	}
}

// handshake returns what a client's handshake ends with when the other end of
// the connection is serve.
func handshake(t *testing.T, config *tls.Config, serve func(net.Conn)) error {
	t.Helper()
	here, there := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		serve(there)
		_, _ = io.Copy(io.Discard, there) // what is never read blocks a pipe
	}()
	err := tls.Client(here, config).Handshake()
	_ = here.Close()
	<-done
	_ = there.Close()
	if err == nil {
		t.Error("the handshake has succeeded")
	}
	return err
}

// TestHandshake has errors whose types crypto/tls keeps to itself, so it lets
// them come about.
func TestHandshake(t *testing.T) {
	say := func(text string) func(net.Conn) {
		return func(conn net.Conn) {
			go func() { _, _ = io.Copy(io.Discard, conn) }()
			_, _ = io.WriteString(conn, text)
		}
	}
	client := &tls.Config{ServerName: "h", MinVersion: tls.VersionTLS12}
	for want, serve := range map[string]func(net.Conn){
		"TLS: the host answers in plain HTTP": say("HTTP/1.1 400 Bad Request\r\n\r\n"),
		"TLS: the host does not speak TLS":    say("220 mail.example ESMTP\r\n"),
		"TLS: the host answered: internal error": func(conn net.Conn) { // as it has no certificate
			server := tls.Server(conn, &tls.Config{
				MinVersion:     tls.VersionTLS12,
				GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, errors.New("none") },
			})
			_ = server.Handshake()
		},
		"TLS: the host answered: protocol version not supported": func(conn net.Conn) {
			_ = tls.Server(conn, &tls.Config{MinVersion: tls.VersionTLS13}).Handshake()
		},
	} {
		config := client.Clone()
		if strings.HasSuffix(want, "not supported") {
			config.MaxVersion = tls.VersionTLS12
		}
		err := handshake(t, config, serve)
		if got := limits.Reason(err); got != want {
			t.Errorf("%v:\ngot  %q\nwant %q", err, got, want)
		}
	}
}

// TestDialTimeout lets a dialer's own timeout pass, which matches
// [context.DeadlineExceeded] and must not be taken for an attempt's end.
func TestDialTimeout(t *testing.T) {
	_, err := (&net.Dialer{Timeout: 1}).DialContext(t.Context(), "tcp", "127.0.0.1:1")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
	if got := limits.Reason(err); got != "no connection within 10s" {
		t.Errorf("%v: got %q", err, got)
	}
}

func TestCut(t *testing.T) {
	for _, test := range []struct {
		text  string
		limit int
		want  string
	}{
		{"", 0, ""},
		{"abc", 0, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "abc"},
		{"a\nb", 3, "a\nb"},
		{"ab€", 5, "ab€"},
		{"ab€", 4, "ab"},
		{"ab€", 3, "ab"},
		{"𝄞", 3, ""},
		{"𝄞𝄞", 7, "𝄞"},
		{"a\xffb", 5, "a\uFFFDb"},
		{"a\xffb", 4, "a\uFFFD"},
		{"a\xffb", 3, "a"},
		{"ab\x80\x80\x80\x80\x80\x80", 6, "ab\uFFFD"},
		{"\x80\x80\x80\x80\x80\x80", 2, ""},
		{strings.Repeat("é", 1000), 7, "ééé"},
	} {
		if got := netreason.Cut(test.text, test.limit); got != test.want {
			t.Errorf("%q at %d: got %q, want %q", test.text, test.limit, got, test.want)
		}
	}
}

func TestLine(t *testing.T) {
	for text, want := range map[string]string{
		"a b":                      "a b",
		" \r\n a \x00\x1b[31m b\t": "a [31m b",
		"a\u0085b\u2028c":          "a b c",
		"a\xffb":                   "a\uFFFDb",
		"aaaaaaaaaaaaaaaaaaaa":     "aaaaaaaaaa",
	} {
		if got := netreason.Line(text, 10); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func FuzzLine(f *testing.F) {
	for _, text := range []string{"", "ab€𝄞", "a\xff\xfe\xf0\x9d\x84", "\x80\x80\x80\x80", " \n\x00\u0085"} {
		for limit := range uint8(6) {
			f.Add(text, limit)
		}
	}
	f.Fuzz(func(t *testing.T, text string, limit uint8) {
		n := int(limit)
		for _, got := range []string{netreason.Cut(text, n), netreason.Line(text, n)} {
			if len(got) > n || !utf8.ValidString(got) {
				t.Errorf("%q at %d: got %q", text, n, got)
			}
		}
		if got := netreason.Line(text, n); strings.ContainsFunc(got, unicode.IsControl) {
			t.Errorf("%q: got %q", text, got)
		}
		if got := netreason.Cut(text, n); utf8.ValidString(text) && (!strings.HasPrefix(text, got) || n-len(got) >= utf8.UTFMax && got != text) {
			t.Errorf("%q at %d: got %q, which leaves out too much", text, n, got)
		}
	})
}

func TestTimedOut(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), -1)
	defer cancel()
	for _, test := range []struct {
		timeout, elapsed time.Duration
		stage, want      string
	}{
		{time.Minute, time.Minute + time.Millisecond, "", "timed out after 60s"},
		{time.Minute, 59 * time.Second, "", "timed out after 60s"},
		{time.Minute, 56250 * time.Millisecond, "", "timed out after 60s"},
		{time.Minute, 56249 * time.Millisecond, "", "timed out after 56.249s"},
		{time.Minute, 1500*time.Millisecond + time.Microsecond, "", "timed out after 1.5s"},
		{time.Minute, 20 * time.Millisecond, "while connecting", "timed out after 20ms while connecting"},
		{0, 3 * time.Second, "", "timed out after 3s"},
		{50 * time.Millisecond, 51 * time.Millisecond, "", "timed out after 50ms"},
		{90500 * time.Millisecond, 91 * time.Second, "", "timed out after 90.5s"},
		{30 * time.Minute, 30 * time.Minute, "", "timed out after 1800s"},
	} {
		if got := netreason.Ended(ctx, test.stage, test.timeout, test.elapsed); got != test.want {
			t.Errorf("%v after %v: got %q, want %q", test.timeout, test.elapsed, got, test.want)
		}
	}
}

func TestCanceled(t *testing.T) {
	if got := netreason.Ended(t.Context(), "while connecting", time.Minute, time.Hour); got != "" {
		t.Errorf("not ended: got %q", got)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the worker\nstops"))
	if got := netreason.Ended(ctx, "", time.Minute, time.Hour); got != "canceled: the worker stops" {
		t.Errorf("got %q", got)
	}
	if got := netreason.Ended(ctx, "while connecting", time.Minute, time.Hour); got != "canceled while connecting: the worker stops" {
		t.Errorf("with a stage: got %q", got)
	}
	ctx, cancel = context.WithCancelCause(t.Context())
	cancel(errors.New(strings.Repeat("x", 1000)))
	if got := netreason.Ended(ctx, "", 0, 0); len(got) != netreason.Max {
		t.Errorf("%d bytes", len(got))
	}
}
