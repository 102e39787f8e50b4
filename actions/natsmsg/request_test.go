package natsmsg_test

import (
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/carillon-sched/carillon/actions/natsmsg"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// answer answers every request on a subject.
func answer(tb testing.TB, nc *nats.Conn, subject, data string, header nats.Header) {
	tb.Helper()
	_, err := nc.Subscribe(subject, func(m *nats.Msg) {
		if err := m.RespondMsg(&nats.Msg{Data: []byte(data), Header: header}); err != nil {
			tb.Error(err)
		}
	})
	if err == nil {
		err = nc.Flush() // the server knows of it before a request comes over another connection
	}
	if err != nil {
		tb.Fatal(err)
	}
}

func TestRequest(t *testing.T) {
	nc := connect(t, run(t))
	long := strings.Repeat("é", 2000)
	answer(t, nc, "ok", `{"n": 1}`, nil)
	answer(t, nc, "status", "", nats.Header{"Status": {"204"}})
	answer(t, nc, "word", "", nats.Header{"Status": {"fine"}})
	answer(t, nc, "long", "x"+long, nil)
	answer(t, nc, "binary", "\xff\x00", nil)
	answer(t, nc, "refused", "", nats.Header{"Status": {"409"}, "Description": {"Consumer Deleted"}})
	answer(t, nc, "busy", "later", nats.Header{"Nats-Service-Error-Code": {"429"}, "Nats-Service-Error": {"busy"}, "Retry-After": {"90"}})
	answer(t, nc, "odd", "", nats.Header{"Nats-Service-Error-Code": {"E17"}, "Nats-Service-Error": {"no luck"}})
	answer(t, nc, "heavy", "", nats.Header{"Status": {"200"}, "X": {strings.Repeat("x", 64<<10)}})
	answer(t, nc, "bare", "", nats.Header{"Nats-Service-Error": {"just so"}, "Retry-After": {"soon"}})
	c := client(t, natsmsg.Config{Conn: nc})
	tests := map[string]struct {
		want     outcome
		response string
		after    time.Duration
	}{
		"ok":      {outcome{200, false, false, `from subject 'ok': 'OK' Body: {"n": 1}`}, `{"n": 1}`, 0},
		"status":  {outcome{200, false, false, "'OK'"}, "", 0},
		"word":    {outcome{200, false, false, "'OK'"}, "", 0},
		"long":    {outcome{200, false, false, "'OK'"}, "x" + long[:2046], 0},
		"binary":  {outcome{200, false, false, "'OK'"}, "\uFFFD\x00", 0},
		"refused": {outcome{409, true, true, "'409 Consumer Deleted'"}, "", 0},
		"busy":    {outcome{429, true, false, "'429 busy' Body: later"}, "later", 90 * time.Second},
		"odd":     {outcome{500, true, false, "'E17 no luck'"}, "", 0},
		"bare":    {outcome{500, true, false, "'just so'"}, "", 0},
		"heavy":   {outcome{502, true, false, "the answer has headers of 65"}, "", 0},
		"nobody":  {outcome{503, true, false, "Request to subject 'nobody' failed: no responders"}, "", 0},
	}
	for subject, test := range tests {
		t.Run(subject, func(t *testing.T) {
			got := invoke(t, c, attempt(), `{"mode": "request", "subject": "`+subject+`"}`)
			check(t, got, test.want)
			if got.Response != test.response || len(got.Response) > scheduler.MaxResponse || !utf8.ValidString(got.Response) {
				t.Errorf("response of %d bytes %.40q, want %.40q", len(got.Response), got.Response, test.response)
			}
			if got.RetryAfter != test.after {
				t.Errorf("retry after %v, want %v", got.RetryAfter, test.after)
			}
			if got.Duration > 5*time.Second {
				t.Errorf("took %v", got.Duration)
			}
		})
	}
}

// A micro service's errors are failures with its code.
func TestMicroService(t *testing.T) {
	nc := connect(t, run(t))
	service := must.Get(micro.AddService(nc, micro.Config{Name: "shop", Version: "1.0.0"}))(t)
	defer func() { _ = service.Stop() }()
	must.Do(t, service.AddEndpoint("order", micro.HandlerFunc(func(r micro.Request) {
		if string(r.Data()) == "bad" {
			_ = r.Error("422", "no such article", []byte("article 7"))
			return
		}
		_ = r.Respond([]byte("ordered " + r.Headers().Get("Nats-Msg-Id")))
	})))
	c := client(t, natsmsg.Config{Conn: nc})
	got := invoke(t, c, attempt(), `{"mode": "request", "subject": "order", "message": "good"}`)
	check(t, got, outcome{status: 200, text: "Body: ordered default/nightly@"})
	got = invoke(t, c, attempt(), `{"mode": "request", "subject": "order", "message": "bad"}`)
	check(t, got, outcome{422, true, true, "'422 no such article' Body: article 7"})
}

// Hundreds of attempts share a connection, and each gets its own answer.
func TestTogether(t *testing.T) {
	nc := connect(t, run(t))
	must.Get(nc.Subscribe("echo", func(m *nats.Msg) { _ = m.Respond(m.Data) }))(t)
	sub := subscribe(t, nc, "tell")
	c := client(t, natsmsg.Config{Conn: nc})
	var wg sync.WaitGroup
	const each = 300
	for i := range each {
		text := strings.Repeat("a", i)
		wg.Go(func() {
			got := invoke(t, c, attempt(), `{"mode": "request", "subject": "echo", "message": "`+text+`"}`)
			if got.Response != text {
				t.Errorf("asked with %d bytes, answered with %d: %s", len(text), len(got.Response), got.Message)
			}
		})
		wg.Go(func() { check(t, invoke(t, c, attempt(), `{"subject": "tell"}`), outcome{status: 202}) })
	}
	wg.Wait()
	if n, _, err := sub.Pending(); n != each || err != nil {
		t.Errorf("%d of %d messages arrived (%v)", n, each, err)
	}
}
