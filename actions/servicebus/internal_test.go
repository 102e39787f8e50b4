package servicebus

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
