package natsmsg_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/actions/natsmsg"
)

// TestBlameless tells failures that say nothing about a server from those that do.
func TestBlameless(t *testing.T) {
	s := run(t)
	nc := connect(t, s)
	stream(t, nc, jetstream.StreamConfig{Name: "FULL", Subjects: []string{"full"}, MaxMsgs: 1, Discard: jetstream.DiscardNew})
	if _, err := nc.Request("full", nil, 10*time.Second); err != nil {
		t.Fatal(err)
	}
	subscribe(t, nc, "silent")
	answer := func(code string) nats.MsgHandler {
		return func(m *nats.Msg) {
			_ = m.RespondMsg(&nats.Msg{Header: nats.Header{"Nats-Service-Error-Code": {code}, "Nats-Service-Error": {"no"}}})
		}
	}
	for _, code := range []string{"500", "501"} {
		if _, err := nc.Subscribe("service."+code, answer(code)); err != nil {
			t.Fatal(err)
		}
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	c := client(t, natsmsg.Config{Conn: connect(t, s)})
	short := attempt()
	short.Timeout = 50 * time.Millisecond
	for name, test := range map[string]struct {
		body           string
		own, elsewhere bool // blameless on the scheduler's own connection, and on a job's own server
	}{
		"nobody":          {`"mode": "request", "subject": "nobody"`, true, false},
		"silent":          {`"mode": "request", "subject": "silent"`, true, false},
		"service error":   {`"mode": "request", "subject": "service.500"`, true, false},
		"not implemented": {`"mode": "request", "subject": "service.501"`, true, true},
		"no stream":       {`"mode": "jetstream", "subject": "nostream"`, true, true},
		"full":            {`"mode": "jetstream", "subject": "full"`, true, true},
	} {
		at := attempt()
		if name == "silent" {
			at = short
		}
		if got := invoke(t, c, at, `{`+test.body+`}`); !got.Failed || got.Blameless != test.own {
			t.Errorf("%s: own connection: want %t, got %+v", name, test.own, got)
		}
		if got := invoke(t, c, at, `{"servers": "`+s.ClientURL()+`", `+test.body+`}`); !got.Failed || got.Blameless != test.elsewhere {
			t.Errorf("%s: elsewhere: want %t, got %+v", name, test.elsewhere, got)
		}
	}
}
