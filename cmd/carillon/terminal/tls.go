package terminal

import (
	"crypto/x509"
	"errors"
	"net"

	"github.com/nats-io/nats.go"
)

// TLSHint says what to do about a connection that TLS does not allow; "" for any other error.
func TLSHint(err error) string {
	if is[x509.UnknownAuthorityError](err) {
		return "name the authorities of the server's certificate with --ca-file, CARILLON_CA_FILE, " +
			`or once with "carillon context set NAME --ca-file FILE"`
	}
	if is[x509.HostnameError](err) {
		return "name the server as its certificate does"
	}
	if is[x509.CertificateInvalidError](err) {
		return "the server needs a new certificate, unless the clock of this machine is wrong"
	}
	op, ok := errors.AsType[*net.OpError](err)
	if ok && op.Op == "remote error" /* an alert of TLS */ || errors.Is(err, nats.ErrTLS) /* or no time for it */ {
		return "the server does not take the client certificate, or asks for one: show one of an authority that it trusts with " +
			"--cert-file and --key-file"
	}
	return ""
}
