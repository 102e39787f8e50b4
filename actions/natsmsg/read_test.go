package natsmsg_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/natsmsg"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// TestRefused has one document for each message of validation.
func TestRefused(t *testing.T) { actiontest.CheckRefusals(t, client(t, natsmsg.Config{})) }

func TestTarget(t *testing.T) {
	c := client(t, natsmsg.Config{})
	got := map[string]string{}
	for _, servers := range []string{
		``, `, "servers": "nats.example.com"`, `, "servers": "tls://A:1, nats://b"`, `, "servers": ["wss://c", "ws://d:2"]`, `, "servers": "[::1]"`,
	} {
		action := must.Get(read(t, c, document.NewReader(), `{"subject": "a"`+servers+`}`))(t)
		got[servers] = action.Target()
	}
	want := map[string]string{
		``: "nats", `, "servers": "nats.example.com"`: "nats.example.com:4222", `, "servers": "tls://A:1, nats://b"`: "a:1",
		`, "servers": ["wss://c", "ws://d:2"]`: "c:443", `, "servers": "[::1]"`: "[::1]:4222",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestConfides has who is shown the secrets of an action.
func TestConfides(t *testing.T) {
	c := client(t, natsmsg.Config{})
	for servers, want := range map[string][]scheduler.Recipient{
		``: {{Address: "the scheduler's own NATS server"}},
		`, "servers": "tls://NATS.example.com, nats://b:1"`: {{Address: "tls://nats.example.com:4222"}, {Address: "nats://b:1"}},
	} {
		action := must.Get(read(t, c, document.NewReader(), `{"subject": "a"`+servers+`}`))(t)
		if diff := cmp.Diff(want, action.(scheduler.SecretDestination).Recipients()); diff != "" {
			t.Errorf("%s: %s", servers, diff)
		}
	}
}
