package natsmsg_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/actions/natsmsg"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

func TestJetStream(t *testing.T) {
	nc := connect(t, run(t))
	st := stream(t, nc, jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"orders.>"}, AllowMsgTTL: true})
	c := client(t, natsmsg.Config{Conn: nc})
	const body = `{"mode": "JetStream", "subject": "orders.new", "message": "hello", "expectStream": "ORDERS", "timeToLive": "PT1H"}`
	check(t, invoke(t, c, attempt(), body), outcome{status: 201, text: "stored in stream 'ORDERS' at sequence 1"})
	check(t, invoke(t, c, attempt(), body), outcome{status: 200, text: "stream 'ORDERS' has the message already, at sequence 1"})
	other := attempt()
	other.Key += "!"
	check(t, invoke(t, c, other, body), outcome{status: 201, text: "at sequence 2"})
	m := must.Get(st.GetMsg(t.Context(), 1))(t)
	for name, want := range map[string]string{
		"Nats-Msg-Id": attempt().Key, "Nats-TTL": "3600", "Carillon-Job": "default/nightly", "Carillon-Occurrence": attempt().Occurrence,
	} {
		if got := m.Header.Get(name); got != want {
			t.Errorf("header %s is %q, want %q", name, got, want)
		}
	}
	if string(m.Data) != "hello" {
		t.Errorf("data %q", m.Data)
	}
}

// Each case is a stream that does not take the message.
func TestJetStreamRefusals(t *testing.T) {
	nc := connect(t, run(t))
	stream(t, nc, jetstream.StreamConfig{Name: "PLAIN", Subjects: []string{"plain"}})
	stream(t, nc, jetstream.StreamConfig{Name: "SMALL", Subjects: []string{"small"}, MaxMsgSize: 10})
	stream(t, nc, jetstream.StreamConfig{Name: "FULL", Subjects: []string{"full"}, MaxBytes: 10, Discard: jetstream.DiscardNew})
	must.Get(nc.Subscribe("taken", func(m *nats.Msg) { _ = m.Respond([]byte("mine")) }))(t)
	c := client(t, natsmsg.Config{Conn: nc})
	tests := map[string]struct {
		body string
		want outcome
	}{
		"no stream":    {`"subject": "nowhere"`, outcome{404, true, true, "failed: no stream takes this subject"}},
		"other stream": {`"subject": "plain", "expectStream": "OTHER"`, outcome{400, true, true, "expected stream does not match"}},
		"no TTL":       {`"subject": "plain", "timeToLive": "PT1M"`, outcome{400, true, true, "TTL is disabled"}},
		"too large":    {`"subject": "small", "message": "` + strings.Repeat("x", 100) + `"`, outcome{413, true, true, "message size exceeds"}},
		"full":         {`"subject": "full"`, outcome{503, true, false, "maximum bytes exceeded"}},
		"not a stream": {`"subject": "taken"`, outcome{502, true, false, "not a stream"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			check(t, invoke(t, c, attempt(), `{"mode": "jetstream", `+test.body+`}`), test.want)
		})
	}
}

// Without an answer to which stream there is, a retry may help: a cluster that
// elects a leader looks the same.
func TestNoStreamUnknown(t *testing.T) {
	off := connect(t, run(t, func(o *server.Options) { o.JetStream = false }))
	got := invoke(t, client(t, natsmsg.Config{Conn: off}), attempt(), `{"mode": "jetstream", "subject": "x"}`)
	check(t, got, outcome{503, true, false, "JetStream is off"})

	s := run(t, weak("$JS.API.>"))
	mute := connect(t, s, nats.UserInfo("weak", "secret-word"))
	got = invoke(t, client(t, natsmsg.Config{Conn: mute}), attempt(), `{"mode": "jetstream", "subject": "x"}`)
	check(t, got, outcome{503, true, false, "no stream has answered"})
	if got.Duration > 8*time.Second {
		t.Errorf("took %v", got.Duration)
	}
}

// TestBlameless tells failures that say nothing about a server from those that do.
func TestBlameless(t *testing.T) {
	s := run(t)
	nc := connect(t, s)
	stream(t, nc, jetstream.StreamConfig{Name: "FULL", Subjects: []string{"full"}, MaxMsgs: 1, Discard: jetstream.DiscardNew})
	must.Get(nc.Request("full", nil, 10*time.Second))(t)
	subscribe(t, nc, "silent")
	answer := func(code string) nats.MsgHandler {
		return func(m *nats.Msg) {
			_ = m.RespondMsg(&nats.Msg{Header: nats.Header{"Nats-Service-Error-Code": {code}, "Nats-Service-Error": {"no"}}})
		}
	}
	for _, code := range []string{"500", "501"} {
		must.Get(nc.Subscribe("service."+code, answer(code)))(t)
	}
	must.Do(t, nc.Flush())
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
		if got := invoke(t, c, at, `{`+test.body+`}`); !got.Failed || got.SkipCircuit != test.own {
			t.Errorf("%s: own connection: want %t, got %+v", name, test.own, got)
		}
		if got := invoke(t, c, at, `{"servers": "`+s.ClientURL()+`", `+test.body+`}`); !got.Failed || got.SkipCircuit != test.elsewhere {
			t.Errorf("%s: elsewhere: want %t, got %+v", name, test.elsewhere, got)
		}
	}
}
