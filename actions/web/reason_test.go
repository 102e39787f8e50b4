package web

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestReason has the errors that no test can bring about with a server.
func TestReason(t *testing.T) {
	dial := func(err error) error {
		return &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 80}, Err: err}
	}
	system := func(errno syscall.Errno) error { return dial(os.NewSyscallError("connect", errno)) }
	certificate := func(err error) error { return &tls.CertificateVerificationError{Err: err} }
	for want, err := range map[string]error{
		"name not found":                                           dial(&net.DNSError{Err: "no such host", Name: "h", IsNotFound: true}),
		"name lookup timed out":                                    dial(&net.DNSError{Err: "i/o timeout", Name: "h", IsTimeout: true}),
		"name lookup: server misbehaving":                          dial(&net.DNSError{Err: "server misbehaving", Name: "h", IsTemporary: true}),
		"no connection within 10s":                                 dial(os.ErrDeadlineExceeded),
		"host unreachable":                                         system(syscall.EHOSTUNREACH),
		"network unreachable":                                      system(syscall.ENETUNREACH),
		"no local port left":                                       system(syscall.EADDRNOTAVAIL),
		"too many open files in the scheduler":                     system(syscall.EMFILE),
		"connection closed by the host while the request was sent": &net.OpError{Op: "write", Err: os.NewSyscallError("write", syscall.EPIPE)},
		"connection closed by the host":                            errors.New("http: server closed idle connection"),
		"TLS: certificate has expired or is not yet valid: ":       certificate(x509.CertificateInvalidError{Reason: x509.Expired}),
		"TLS: the certificate is not valid for the host name":      certificate(x509.HostnameError{Certificate: &x509.Certificate{}, Host: "h"}),
		"TLS: the host answered: handshake failure":                &net.OpError{Op: "remote error", Err: tls.AlertError(40)},
		"TLS: no handshake within 10s":                             errors.New("net/http: TLS handshake timeout"),
		"dial: something new":                                      dial(errors.New("something new")),
		"stream error: stream ID 1; INTERNAL_ERROR":                errors.New("stream error: stream ID 1; INTERNAL_ERROR"),
		strings.Repeat("x", maxReason):                             errors.New(strings.Repeat("x", 1000)),
		"a\uFFFDb":                                                 errors.New("a\xffb"),
	} {
		if got := reason(t.Context(), err, time.Minute, time.Second); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

// TestOwnTransportTLS checks that the own transport speaks HTTP/2 where the
// host does, and HTTP/1.1 over TLS otherwise.
func TestOwnTransportTLS(t *testing.T) {
	for _, http2 := range []bool{true, false} {
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(w, r.Proto+" "+r.Header.Get("Idempotency-Key"))
		}))
		server.EnableHTTP2 = http2
		server.StartTLS()
		own := newTransport(new(Config), nil)
		own.TLSClientConfig.RootCAs = x509.NewCertPool()
		own.TLSClientConfig.RootCAs.AddCert(server.Certificate())
		c := New(Config{Transport: own})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set(headerKey, "k")
		resp, err := c.transport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		want := "HTTP/1.1 k"
		if http2 {
			want = "HTTP/2.0 k"
		}
		if string(body) != want {
			t.Errorf("got %q, want %q", body, want)
		}
		c.CloseIdleConnections()
		server.Close()
	}
}
