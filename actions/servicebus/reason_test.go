package servicebus

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/go-amqp"
)

// TestReason has the errors that no test can bring about with a server.
func TestReason(t *testing.T) {
	dial := func(err error) error {
		return &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 80}, Err: err}
	}
	system := func(errno syscall.Errno) error { return dial(os.NewSyscallError("connect", errno)) }
	const lost = "no acknowledgement, the message may have arrived: "
	for want, err := range map[string]error{
		"name not found: h":                dial(&net.DNSError{Err: "no such host", Name: "h", IsNotFound: true}),
		"name lookup timed out":            dial(&net.DNSError{Err: "i/o timeout", Name: "h", IsTimeout: true}),
		"name lookup: misbehaving":         dial(&net.DNSError{Err: "misbehaving", Name: "h", IsTemporary: true}),
		"no connection within 10s":         dial(os.ErrDeadlineExceeded),
		"host unreachable":                 system(syscall.EHOSTUNREACH),
		"connection refused":               &lostError{cause: system(syscall.ECONNREFUSED)},
		"something new":                    dial(errors.New("something\nnew")),
		"TLS: no handshake within 10s":     errHandshakeTimeout,
		"TLS: the host does not speak TLS": tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"},
		"TLS: the certificate is not valid for the host name": &tls.CertificateVerificationError{
			Err: x509.HostnameError{Certificate: &x509.Certificate{}, Host: "h"},
		},
		"TLS: certificate has expired or is not yet valid: ": &tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: x509.Expired}},
		"TLS: the host answered: handshake failure":          &net.OpError{Op: "remote error", Err: tls.AlertError(40)},
		lost + "connection closed by the host":               &lostError{sent: true, cause: io.EOF},
		lost + "connection reset by the host":                &lostError{sent: true, cause: &net.OpError{Op: "read", Err: syscall.ECONNRESET}},
		lost + "the host is silent":                          &lostError{sent: true, cause: &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}},
		lost + "odd":                                         &lostError{sent: true, cause: errors.New("odd")},
		strings.Repeat("x", maxReason) + "…":                 errors.New(strings.Repeat("x", 1000)),
		"a\uFFFDb":                                           errors.New("a\xffb"),
	} {
		if got := reason(err); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

// TestJudge has the errors of the SDK that the emulator does not give.
func TestJudge(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want verdict
	}{
		"too large": {
			azservicebus.ErrMessageTooLarge,
			verdict{answered: true, title: "amqp:link:message-size-exceeded", status: 413, final: true},
		},
		"rejected": {
			&amqp.Error{Condition: "com.microsoft:argument-error", Description: "d"},
			verdict{answered: true, title: "com.microsoft:argument-error", text: "d", status: 400, final: true},
		},
		"detached": {
			&amqp.LinkError{RemoteErr: &amqp.Error{Condition: "amqp:resource-deleted", Description: "d"}},
			verdict{answered: true, title: "amqp:resource-deleted", text: "d", status: 410, final: true, link: true},
		},
		"unknown": {errors.New("odd"), verdict{text: "odd", link: true, connection: true}},
	} {
		if got := judge(test.err); got != test.want {
			t.Errorf("%s:\ngot  %+v\nwant %+v", name, got, test.want)
		}
	}
	if got := answered(418, "x"); got.title != "I'm a teapot" || !got.final {
		t.Errorf("%+v", got)
	}
	if got := answered(599, "rpc: failed, status code 599 and description: d"); got.title != "599" || got.text != "d" || got.final {
		t.Errorf("%+v", got)
	}
}

func TestInterruption(t *testing.T) {
	i := &interruption{stage: "while testing"}
	late, cancel := context.WithTimeout(t.Context(), -1)
	defer cancel()
	for want, got := range map[string]string{
		"timed out after 60s while testing":   i.explain(late, time.Minute, time.Minute+time.Millisecond),
		"timed out after 1.5s while testing":  i.explain(late, time.Minute, 1500*time.Millisecond+time.Microsecond),
		"timed out after 0.02s while testing": i.explain(late, 0, 20*time.Millisecond),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := i.Error(); got != "interrupted while testing" {
		t.Error(got)
	}
}
