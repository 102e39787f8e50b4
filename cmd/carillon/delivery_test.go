package main

import (
	"net/netip"
	"strings"
	"testing"
)

func TestDelivery(t *testing.T) {
	f := deliveryFlags{
		AllowTarget:  []string{"10.1.2.3/16", "192.168.7.9", "fd00::/8"},
		ServiceBus:   map[string]string{"orders": "amqp://localhost:5672", "*": "amqps://bus.example"},
		StorageQueue: map[string]string{"*": "http://127.0.0.1:10001/{name}"},
	}
	d, err := f.delivery()
	if err != nil {
		t.Fatal(err)
	}
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

func TestWrongDelivery(t *testing.T) {
	for want, f := range map[string]deliveryFlags{
		`--allow-target: "localhost" is not a range`:         {AllowTarget: []string{"localhost"}},
		`--service-bus: "localhost:5672" is not an endpoint`: {ServiceBus: map[string]string{"a": "localhost:5672"}},
		`--storage-queue: "http://u:p@h/" is not`:            {StorageQueue: map[string]string{"a": "http://u:p@h/"}},
		`--login-endpoint: "x" is not`:                       {LoginEndpoint: "x"},
	} {
		if _, err := f.delivery(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
