package servicebus

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/go-amqp"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/egress"
)

// TestReason has what depends on this package's own limits, and on what was
// sent.
func TestReason(t *testing.T) {
	const lost = "no acknowledgement, the message may have arrived: "
	for want, err := range map[string]error{
		"no connection within 10s":             &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded},
		"TLS: no handshake within 10s":         errHandshakeTimeout,
		"connection refused":                   &lostError{cause: syscall.ECONNREFUSED},
		lost + "connection closed by the host": &lostError{sent: true, cause: io.EOF},
		lost + "connection reset by the host":  &lostError{sent: true, cause: &net.OpError{Op: "read", Err: syscall.ECONNRESET}},
		lost + "the host is silent":            &lostError{sent: true, cause: &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}},
		lost + "odd":                           &lostError{sent: true, cause: errors.New("odd")},
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
		want failure
	}{
		"too large": {
			azservicebus.ErrMessageTooLarge,
			failure{Failure: actions.Failure{Status: 413, Final: true, Blameless: true}, title: "amqp:link:message-size-exceeded"},
		},
		"rejected": {
			&amqp.Error{Condition: "com.microsoft:argument-error", Description: "d"},
			failure{Failure: actions.Failure{Reason: "d", Status: 400, Final: true}, title: "com.microsoft:argument-error"},
		},
		"detached": {
			&amqp.LinkError{RemoteErr: &amqp.Error{Condition: "amqp:resource-deleted", Description: "d"}},
			failure{Failure: actions.Failure{Reason: "d", Status: 410, Final: true, Blameless: true}, title: "amqp:resource-deleted", link: true},
		},
		"refused": {
			&lostError{cause: egress.NewGuard().Check(netip.MustParseAddr("10.0.0.1"))},
			failure{Failure: actions.Failure{
				Reason: "10.0.0.1 is a private address, which jobs must not reach; --allow-target 10.0.0.1/32 allows it",
				Final:  true, Blameless: true,
			}, link: true, connection: true},
		},
		"key":     {errBadKey, failure{Failure: actions.Failure{Reason: errBadKey.Error(), Blameless: true}, link: true, connection: true}},
		"unknown": {errors.New("odd"), failure{Failure: actions.Failure{Reason: "odd"}, link: true, connection: true}},
	} {
		if got := judge(test.err); got != test.want {
			t.Errorf("%s:\ngot  %+v\nwant %+v", name, got, test.want)
		}
	}
	if got := refusal(418, "x"); got.title != "I'm a teapot" || !got.Final {
		t.Errorf("%+v", got)
	}
	if got := refusal(599, "rpc: failed, status code 599 and description: d"); got.title != "599" || got.Reason != "d" || got.Final {
		t.Errorf("%+v", got)
	}
}
