package natsmsg

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/netip"
	"os"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/actions/egress"
)

// TestJudge has the errors that no test can bring about with a server, or not
// in a short time.
func TestJudge(t *testing.T) {
	const silent = "the server has not shaken hands within 5s"
	for _, test := range []struct {
		err  error
		want failure
	}{
		{
			egress.NewGuard().Check(netip.MustParseAddr("127.0.0.1")),
			failure{final: true, text: "127.0.0.1 is a loopback address, which jobs must not reach; --allow-target 127.0.0.1/32 allows it", blameless: true},
		},
		{&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}, failure{0, false, "no connection within 5s", false}},
		{&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, failure{0, false, silent, false}},
		{nats.ErrTimeout, failure{0, false, silent, false}},
		{nats.ErrConnectionClosed, failure{0, false, "the connection to NATS was lost", false}},
		{nats.ErrSecureConnWanted, failure{0, false, "secure connection not available", false}},
		{nats.ErrBadSubject, failure{400, true, "invalid subject", false}},
		{&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, failure{0, false, "TLS: certificate signed by unknown authority", false}},
		{errors.New("nats: odd\nerror"), failure{0, false, "odd error", false}},
		{
			&jetstream.APIError{Code: 400, ErrorCode: streamTooLarge, Description: "message size exceeds maximum allowed"},
			failure{413, true, "message size exceeds maximum allowed (JetStream error 10054)", true},
		},
		{
			&jetstream.APIError{Code: 400, ErrorCode: accountExceeded, Description: "resource limits exceeded for account"},
			failure{400, false, "resource limits exceeded for account (JetStream error 10002)", true},
		},
		{
			&jetstream.APIError{Code: 503, ErrorCode: 10077, Description: "maximum messages exceeded"},
			failure{503, false, "maximum messages exceeded (JetStream error 10077)", true},
		},
		{
			&jetstream.APIError{Code: 503, ErrorCode: insufficient, Description: "insufficient resources"},
			failure{503, false, "insufficient resources (JetStream error 10023)", false},
		},
		{&secretError{errors.New("shared secret \"a\": not found")}, failure{text: "shared secret \"a\": not found", blameless: true}},
	} {
		if got := judge(test.err); got != test.want {
			t.Errorf("%v:\ngot  %+v\nwant %+v", test.err, got, test.want)
		}
	}
}

// TestLoginKeys shows that logins share a connection only when all their parts are the same.
func TestLoginKeys(t *testing.T) {
	logins := []login{
		{servers: []string{"nats://a:4222"}, token: "t"},
		{servers: []string{"nats://a:4222"}, credentials: "t"},
		{servers: []string{"nats://a:4222"}, user: "u", password: "p"},
		{servers: []string{"nats://a:4222"}, user: "u\x00p"},
		{servers: []string{"nats://a:4222"}, token: "\x00u", password: "p"},
		{servers: []string{"nats://a:4222"}, user: "\x00u", password: "p"},
		{servers: []string{"nats://a:4222"}, token: "x\x00u", password: "p"},
		{servers: []string{"nats://a:4222"}, token: "x", user: "u\x00p", password: ""},
		{servers: []string{"nats://a:4222"}, token: "x", user: "u", password: "p\x00"},
		{servers: []string{"", "nats://a:4222"}, token: "x", user: "u", password: "p"},
	}
	for i := range logins {
		for j := range logins {
			if same := logins[i].key() == logins[j].key(); same != (i == j) {
				t.Errorf("%d and %d: same connection: %t", i, j, same)
			}
		}
	}
}
