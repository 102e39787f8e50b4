package main

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

func TestDelivery(t *testing.T) {
	f := deliveryFlags{
		AllowTarget:  []string{"10.1.2.3/16", "192.168.7.9", "fd00::/8"},
		ServiceBus:   map[string]string{"orders": "amqp://localhost:5672", "*": "amqps://bus.example"},
		StorageQueue: map[string]string{"*": "http://127.0.0.1:10001/{name}"},
	}
	d := must.Get(f.delivery())(t)
	for address, allowed := range map[string]bool{
		"10.1.9.9": true, "10.2.0.1": false, "192.168.7.9": true, "192.168.7.10": false, "fd12::1": true, "127.0.0.1": false, "8.8.8.8": true,
	} {
		if err := d.Guard.Check(netip.MustParseAddr(address)); (err == nil) != allowed {
			t.Errorf("%s: %v", address, err)
		}
	}
	if got := d.ServiceBus.Find("Orders") + " " + d.ServiceBus.Find("x") + " " + d.StorageQueues.Find("acc"); got != "amqp://localhost:5672 amqps://bus.example http://127.0.0.1:10001/acc" {
		t.Errorf("got %s", got)
	}
}

// TestEndpointsAreAllowed has endpoints at addresses that jobs may not reach otherwise.
func TestEndpointsAreAllowed(t *testing.T) {
	d := must.Get(deliveryFlags{
		ServiceBus:    map[string]string{"a": "amqp://10.1.2.3", "b": "amqps://10.1.2.4", "c": "sb://10.1.2.5", "d": "amqp://bus.example"},
		StorageQueue:  map[string]string{"a": "http://10.1.2.6/{name}", "b": "https://[fd00::7]", "*": "http://10.1.2.8:10001/{name}", "l": "http://localhost:10002/x"},
		LoginEndpoint: "https://10.1.2.9:8443",
	}.delivery())(t)
	for address, allowed := range map[string]bool{
		"10.1.2.3:5672": true, "10.1.2.3:5671": false, "10.1.2.4:5671": true, "10.1.2.5:5671": true, "10.1.2.5:5672": true,
		"10.1.2.6:80": true, "10.1.2.6:443": false, "[fd00::7]:443": true, "10.1.2.8:10001": true, "10.1.2.8:80": false,
		"127.0.0.1:10002": true, "[::1]:10002": true, "127.0.0.1:10001": false, "10.1.2.9:8443": true, "10.1.2.7:5672": false,
	} {
		if err := d.Guard.CheckAddrPort(netip.MustParseAddrPort(address)); (err == nil) != allowed {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestProxyFlag(t *testing.T) {
	for text, want := range map[string]bool{
		"http://p:3128": true, "https://p": true, "socks5://p": true, "socks5h://u:s3cret@p:1080": true,
		"ftp://x": false, "p:3128": false, "http:p": false, "//p": false, "ftp://u:s3cret@x": false, "u:s3cret@x:80": false,
		"http://u:s3cret%zz@x": false, "http://u:s3cret@x:port": false, "http://u:s3cret@\x00@x": false,
	} {
		_, err := readProxy(text)
		if usage := terminal.ExitCode(err) == terminal.ExitUsage; usage == want || err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: got %v", text, err)
		}
	}
	if u, err := readProxy(""); u != nil || err != nil {
		t.Errorf("without a proxy: %v %v", u, err)
	}
}

func TestWrongDelivery(t *testing.T) {
	for want, f := range map[string]deliveryFlags{
		`--allow-target: "localhost" is not a network`:       {AllowTarget: []string{"localhost"}},
		`--service-bus: "localhost:5672" is not an endpoint`: {ServiceBus: map[string]string{"a": "localhost:5672"}},
		`--storage-queue: "…@h/" is not`:                     {StorageQueue: map[string]string{"a": "http://u:p@h/"}},
		`--login-endpoint: "x" is not`:                       {LoginEndpoint: "x"},
	} {
		if _, err := f.delivery(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
