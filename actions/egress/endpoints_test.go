package egress_test

import (
	"testing"

	"github.com/carillon-sched/carillon/actions/egress"
)

func TestEndpoints(t *testing.T) {
	m := egress.Endpoints{ByName: map[string]string{"Orders": "amqp://orders:5672"}, Default: "http://127.0.0.1:10001/{name}"}
	for name, want := range map[string]string{"orders": "amqp://orders:5672", "Orders": "amqp://orders:5672", "acc": "http://127.0.0.1:10001/acc"} {
		if got := m.Find(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if got := (egress.Endpoints{}).Find("orders"); got != "" {
		t.Errorf("got %q from the zero value", got)
	}
}
