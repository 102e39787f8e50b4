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

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/egress"
)

// TestJudge has the errors that no test can bring about with a server, or not
// in a short time.
func TestJudge(t *testing.T) {
	const silent = "the server has not shaken hands within 5s"
	for _, test := range []struct {
		err  error
		want actions.Failure
	}{
		{
			egress.NewGuard().Check(netip.MustParseAddr("127.0.0.1")),
			actions.Failure{Final: true, Reason: "127.0.0.1 is a loopback address, which jobs must not reach; --allow-target 127.0.0.1/32 allows it", SkipCircuit: true},
		},
		{&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}, actions.Failure{Reason: "no connection within 5s"}},
		{&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, actions.Failure{Reason: silent}},
		{nats.ErrTimeout, actions.Failure{Reason: silent}},
		{nats.ErrConnectionClosed, actions.Failure{Reason: "the connection to NATS was lost"}},
		{nats.ErrSecureConnWanted, actions.Failure{Reason: "secure connection not available"}},
		{nats.ErrBadSubject, actions.Failure{Status: 400, Final: true, Reason: "invalid subject"}},
		{&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, actions.Failure{Reason: "TLS: certificate signed by unknown authority"}},
		{errors.New("nats: odd\nerror"), actions.Failure{Reason: "odd error"}},
		{
			&jetstream.APIError{Code: 400, ErrorCode: streamTooLarge, Description: "message size exceeds maximum allowed"},
			actions.Failure{Status: 413, Final: true, Reason: "message size exceeds maximum allowed (JetStream error 10054)", SkipCircuit: true},
		},
		{
			&jetstream.APIError{Code: 400, ErrorCode: accountExceeded, Description: "resource limits exceeded for account"},
			actions.Failure{Status: 400, Reason: "resource limits exceeded for account (JetStream error 10002)", SkipCircuit: true},
		},
		{
			&jetstream.APIError{Code: 503, ErrorCode: 10077, Description: "maximum messages exceeded"},
			actions.Failure{Status: 503, Reason: "maximum messages exceeded (JetStream error 10077)", SkipCircuit: true},
		},
		{
			&jetstream.APIError{Code: 503, ErrorCode: insufficient, Description: "insufficient resources"},
			actions.Failure{Status: 503, Reason: "insufficient resources (JetStream error 10023)"},
		},
		{actions.Unready(errors.New("shared secret \"a\": not found")), actions.Failure{Reason: "shared secret \"a\": not found", SkipCircuit: true}},
	} {
		if got := *classify(test.err); got != test.want {
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
