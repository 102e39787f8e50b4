package servicebus

import (
	"net"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/actions/egress"
)

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
