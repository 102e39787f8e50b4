package servicebus

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/go-amqp"
	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/payload"
	"github.com/carillon-sched/carillon/scheduler"
)

func TestReadNamespace(t *testing.T) {
	type want struct {
		name, target, address, authority string
		plain                            bool
	}
	const azure = ".servicebus.windows.net"
	tests := map[string]want{
		"Orders":                    {"Orders", "orders" + azure, "orders" + azure + ":5671", "orders" + azure, false},
		"Orders" + azure:            {"Orders", "orders" + azure, "orders" + azure + ":5671", "orders" + azure, false},
		"sb://Orders" + azure + "/": {"Orders", "orders" + azure, "orders" + azure + ":5671", "orders" + azure, false},
		"SB://orders.ServiceBus.windows.net:5671": {"orders", "orders" + azure, "orders" + azure + ":5671", "orders" + azure, false},
		"x1.servicebus.chinacloudapi.cn": {
			"x1", "x1.servicebus.chinacloudapi.cn", "x1.servicebus.chinacloudapi.cn:5671", "x1.servicebus.chinacloudapi.cn", false,
		},
		"mapped":               {"mapped", "mapped" + azure, "127.0.0.1:7000", "127.0.0.1:7000", true},
		"MAPPED" + azure:       {"MAPPED", "mapped" + azure, "127.0.0.1:7000", "127.0.0.1:7000", true},
		"localhost":            {"localhost", "localhost:5672", "localhost:5672", "localhost", true},
		"sb://localhost":       {"localhost", "localhost:5672", "localhost:5672", "localhost", true},
		"sb://Localhost:5671/": {"localhost", "localhost:5671", "Localhost:5671", "Localhost", false},
		"127.0.0.1:9999":       {"127.0.0.1:9999", "127.0.0.1:9999", "127.0.0.1:9999", "127.0.0.1:9999", true},
		"[::1]:9999":           {"[::1]:9999", "[::1]:9999", "[::1]:9999", "[::1]:9999", true},
		"sb://[::1]":           {"[::1]", "[::1]:5672", "[::1]:5672", "[::1]", true},
		"emulator:5672":        {"emulator", "emulator:5672", "emulator:5672", "emulator", true},
		"emulator:9000":        {"emulator:9000", "emulator:9000", "emulator:9000", "emulator:9000", false},
		"bus.example.com":      {"bus.example.com", "bus.example.com:5671", "bus.example.com:5671", "bus.example.com", false},
		"amqp://emulator":      {"emulator", "emulator:5672", "emulator:5672", "emulator", true},
		"amqps://localhost":    {"localhost", "localhost:5671", "localhost:5671", "localhost", false},
		"10.0.0.1":             {"10.0.0.1", "10.0.0.1:5671", "10.0.0.1:5671", "10.0.0.1", false},
	}
	places := egress.Endpoints{ByName: map[string]string{"mapped": "sb://127.0.0.1:7000"}}
	for text, w := range tests {
		n, err := readNamespace(text, places)
		if got := (want{n.name, n.target, n.address(), n.authority(), n.plain}); got != w || err != nil {
			t.Errorf("%s:\ngot  %+v, %v\nwant %+v", text, got, err, w)
		}
	}
	everything := egress.Endpoints{Default: "amqp://127.0.0.1:7000"}
	for text, mapped := range map[string]bool{"any": true, "any" + azure: true, "localhost:1": false, "bus.example.com": false} {
		if n, err := readNamespace(text, everything); n.mapped != mapped || err != nil {
			t.Errorf("%s: %+v, %v", text, n, err)
		}
	}
}

func TestMessageID(t *testing.T) {
	if got := messageID("default/nightly@2026-03-01T09:30:00Z"); got != "default/nightly@2026-03-01T09:30:00Z" {
		t.Error(got)
	}
	long := make([]byte, 300)
	for i := range long {
		long[i] = 'a'
	}
	one, same, other := messageID(string(long)), messageID(string(long)), messageID(string(long)+"b")
	if one != same || one == other || len(one) != maxID {
		t.Errorf("%s\n%s\n%s", one, same, other)
	}
}

// TestEnvelopeProperties has what envelopes bring along, and shows that what the job gives wins.
func TestEnvelopeProperties(t *testing.T) {
	rendered := payload.Message{
		Body: "{}", ContentType: "application/json",
		Attributes: []payload.Attribute{{Name: "id", Value: "i"}, {Name: "source", Value: "s"}},
	}
	a := &action{custom: map[string]any{"cloudEvents:source": "mine", "n": int64(1)}}
	m, _ := a.message(scheduler.Attempt{Key: "k"}, rendered, nil, time.Now())
	want := map[string]any{"cloudEvents:id": "i", "cloudEvents:source": "mine", "n": int64(1)}
	if diff := cmp.Diff(want, m.ApplicationProperties); diff != "" {
		t.Error(diff)
	}
	if *m.Properties.ContentType != "application/json" {
		t.Error(*m.Properties.ContentType)
	}
	own := "application/vnd.own"
	a.properties.contentType = &own
	if m, _ = a.message(scheduler.Attempt{Key: "k"}, rendered, nil, time.Now()); *m.Properties.ContentType != own {
		t.Error(*m.Properties.ContentType)
	}
	if len(a.custom) != 2 {
		t.Error("the job's own properties were changed")
	}
}

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
			failure{Failure: actions.Failure{Status: 413, Final: true, SkipCircuit: true}, title: "amqp:link:message-size-exceeded"},
		},
		"rejected": {
			&amqp.Error{Condition: "com.microsoft:argument-error", Description: "d"},
			failure{Failure: actions.Failure{Reason: "d", Status: 400, Final: true}, title: "com.microsoft:argument-error"},
		},
		"detached": {
			&amqp.LinkError{RemoteErr: &amqp.Error{Condition: "amqp:resource-deleted", Description: "d"}},
			failure{Failure: actions.Failure{Reason: "d", Status: 410, Final: true, SkipCircuit: true}, title: "amqp:resource-deleted", link: true},
		},
		"refused": {
			&lostError{cause: egress.NewGuard().Check(netip.MustParseAddr("10.0.0.1"))},
			failure{Failure: actions.Failure{
				Reason: "10.0.0.1 is a private address, which jobs must not reach; --allow-target 10.0.0.1/32 allows it",
				Final:  true, SkipCircuit: true,
			}, link: true, connection: true},
		},
		"key":     {errBadKey, failure{Failure: actions.Failure{Reason: errBadKey.Error(), SkipCircuit: true}, link: true, connection: true}},
		"unknown": {errors.New("odd"), failure{Failure: actions.Failure{Reason: "odd"}, link: true, connection: true}},
	} {
		if got := classify(test.err); got != test.want {
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

// FuzzReadNamespace shows that whatever is taken for a namespace can be dialled, and cannot bring anything else into a connection
// string.
func FuzzReadNamespace(f *testing.F) {
	for _, text := range []string{
		"", "ns", "ns.servicebus.windows.net", "sb://ns.servicebus.windows.net/", "localhost:5672", "amqp://[::1]:1/", "amqps://h",
		"[::1", "h:", "a;b", "sb://u:p@h", "fe80::1%eth0:1", "[fe80::1%a;b]:1",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := readNamespace(text, egress.Endpoints{})
		if err != nil {
			return
		}
		host, port, err := net.SplitHostPort(n.address())
		if err != nil || host == "" || port == "" {
			t.Errorf("address %q, %v", n.address(), err)
		}
		if strings.ContainsAny(n.authority(), "; \t\r\n/@=") || n.authority() == "" || n.target == "" || n.name == "" {
			t.Errorf("%+v", n)
		}
		again, err := parseEndpoint(n.address())
		if err != nil || again.address() != n.address() {
			t.Errorf("%q reads as %q, %v", n.address(), again.address(), err)
		}
	})
}
