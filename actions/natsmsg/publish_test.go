package natsmsg_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/natsmsg"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

func TestPublish(t *testing.T) {
	nc := connect(t, run(t))
	sub := subscribe(t, nc, "orders.>")
	c := client(t, natsmsg.Config{Conn: nc})
	got := invoke(t, c, attempt(), `{"subject": "orders.new", "message": "hello", "replyTo": "orders.done",
		"headers": {"X-Shop": "north", "carillon-job": "mine"}}`)
	check(t, got, outcome{status: 202, text: "Published to subject 'orders.new'"})
	m := next(t, sub)
	if m.Subject != "orders.new" || m.Reply != "orders.done" || string(m.Data) != "hello" {
		t.Errorf("got %q with reply %q on %s", m.Data, m.Reply, m.Subject)
	}
	trace := m.Header.Get("traceparent")
	m.Header.Del("traceparent")
	want := nats.Header{
		"Nats-Msg-Id":         {"default/nightly@2026-03-01T09:30:00Z"},
		"Carillon-Occurrence": {"default/nightly@2026-03-01T09:30:00Z"},
		"Carillon-Attempt":    {"2"},
		"X-Shop":              {"north"},
		"carillon-job":        {"mine"}, // what the job gives wins
	}
	if diff := cmp.Diff(want, m.Header); diff != "" || !strings.HasPrefix(trace, "00-") {
		t.Errorf("traceparent %q and headers (-want +got):\n%s", trace, diff)
	}
}

func TestErrorAction(t *testing.T) {
	nc := connect(t, run(t))
	sub := subscribe(t, nc, "alarm")
	at := attempt()
	at.Phase, at.Failure = scheduler.ErrorPhase, &scheduler.Failure{Status: 503, Attempts: 5, Message: "no\nway"}
	check(t, invoke(t, client(t, natsmsg.Config{Conn: nc}), at, `{"subject": "alarm"}`), outcome{status: 202})
	m := next(t, sub)
	for name, want := range map[string]string{
		"x-carillon-failed-status": "503", "x-carillon-failed-attempts": "5", "x-carillon-failed-message": "no way",
		"Carillon-Job": "default/nightly",
	} {
		if got := m.Header.Get(name); got != want {
			t.Errorf("header %s is %q, want %q", name, got, want)
		}
	}
}

// The protocol binding of CloudEvents tells the modes apart by the content
// type, and has every attribute in a header of its own in binary mode.
func TestCloudEvents(t *testing.T) {
	nc := connect(t, run(t))
	sub := subscribe(t, nc, "events")
	c := client(t, natsmsg.Config{Conn: nc})
	check(t, invoke(t, c, attempt(), `{"subject": "events", "message": "{\"n\": 1}", "envelope": "cloudEvents"}`), outcome{status: 202})
	m := next(t, sub)
	if kind := m.Header.Get("content-type"); !strings.HasPrefix(kind, "application/cloudevents+json") ||
		!strings.Contains(string(m.Data), `"specversion":"1.0"`) {
		t.Errorf("structured: content type %q, data %s", kind, m.Data)
	}
	check(t, invoke(t, c, attempt(), `{"subject": "events", "message": "{\"n\": 1}", "envelope": "cloudEventsBinary",
		"cloudEvent": {"type": "com.example.tick", "subject": "Köln 1"}}`), outcome{status: 202})
	m = next(t, sub)
	for name, want := range map[string]string{
		"ce-specversion": "1.0", "ce-type": "com.example.tick", "ce-id": "default/nightly@2026-03-01T09:30:00Z",
		"ce-time": "2026-03-01T09:30:00Z", "ce-datacontenttype": "application/json", "ce-subject": "K%C3%B6ln%201",
		"content-type": "",
	} {
		if got := m.Header.Get(name); got != want {
			t.Errorf("binary: header %s is %q, want %q", name, got, want)
		}
	}
	if string(m.Data) != `{"n": 1}` {
		t.Errorf("binary: data %s", m.Data)
	}
}

// weak is a user who may do little.
func weak(deny ...string) func(*server.Options) {
	return func(o *server.Options) {
		o.Users = []*server.User{{
			Username: "weak", Password: "secret-word",
			Permissions: &server.Permissions{Publish: &server.SubjectPermission{Deny: deny}},
		}}
	}
}

// A forbidden subject is noticed in every mode, at once, and each time: also
// by publishes that run together with others that are let pass.
func TestForbidden(t *testing.T) {
	s := run(t, weak("forbidden.>"))
	nc := connect(t, s, nats.UserInfo("weak", "secret-word"))
	c := client(t, natsmsg.Config{Conn: nc})
	for _, mode := range []string{"publish", "jetstream", "request"} {
		got := invoke(t, c, attempt(), `{"mode": "`+mode+`", "subject": "forbidden.x"}`)
		check(t, got, outcome{403, true, true, `failed: Permissions Violation for Publish to "forbidden.x"`})
		if got.Duration > 5*time.Second {
			t.Errorf("%s: took %v", mode, got.Duration)
		}
	}
	check(t, invoke(t, c, attempt(), `{"subject": "free", "replyTo": "a"}`), outcome{status: 202})
	var wg sync.WaitGroup
	for i := range 400 {
		wg.Go(func() {
			if i%2 == 0 {
				check(t, invoke(t, c, attempt(), `{"subject": "free.x"}`), outcome{status: 202})
				return
			}
			check(t, invoke(t, c, attempt(), fmt.Sprintf(`{"subject": "forbidden.x%d"}`, i)),
				outcome{403, true, true, fmt.Sprintf("forbidden.x%d", i)})
		})
	}
	wg.Wait()
}

// The connection's owner still hears of everything, also when it replaces the
// handler, which leaves only the connection's last error to go by.
func TestForbiddenWithoutHandler(t *testing.T) {
	s := run(t, weak("forbidden.>"))
	heard := make(chan error, 10)
	nc := connect(t, s, nats.UserInfo("weak", "secret-word"),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { heard <- err }))
	c := client(t, natsmsg.Config{Conn: nc})
	check(t, invoke(t, c, attempt(), `{"subject": "forbidden.x"}`), outcome{403, true, true, "forbidden.x"})
	select {
	case err := <-heard:
		if !errors.Is(err, nats.ErrPermissionViolation) {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("the owner's handler was not called")
	}
	nc.SetErrorHandler(nil)
	check(t, invoke(t, c, attempt(), `{"subject": "forbidden.y"}`), outcome{403, true, true, "forbidden.y"})
	check(t, invoke(t, c, attempt(), `{"subject": "free"}`), outcome{status: 202})
}

// A user who may not subscribe to inboxes gets no answers, and is told so.
func TestDeaf(t *testing.T) {
	s := run(t, func(o *server.Options) {
		o.Users = []*server.User{{
			Username: "deaf", Password: "x",
			Permissions: &server.Permissions{Subscribe: &server.SubjectPermission{Deny: []string{"_INBOX.>"}}},
		}}
	})
	c := client(t, natsmsg.Config{Conn: connect(t, s, nats.UserInfo("deaf", "x"))})
	for range 2 {
		got := invoke(t, c, attempt(), `{"mode": "request", "subject": "ask"}`)
		check(t, got, outcome{403, true, true, `Permissions Violation for Subscription to "_INBOX.`})
	}
	check(t, invoke(t, c, attempt(), `{"subject": "tell"}`), outcome{status: 202})
}

func TestTooLarge(t *testing.T) {
	nc := connect(t, run(t, func(o *server.Options) { o.MaxPayload = 1024 }))
	c := client(t, natsmsg.Config{Conn: nc})
	for _, mode := range []string{"publish", "jetstream", "request"} {
		got := invoke(t, c, attempt(), `{"mode": "`+mode+`", "subject": "big", "message": "`+strings.Repeat("x", 2000)+`"}`)
		check(t, got, outcome{413, true, true, "larger than the server takes"})
	}
}

// An attempt fails when the server goes away in the middle of it, and the next
// one at once while there is no connection.
func TestServerGone(t *testing.T) {
	s := run(t)
	nc := connect(t, s, nats.ReconnectWait(time.Hour))
	asked := make(chan struct{}, 1)
	must.Get(nc.Subscribe("slow", func(*nats.Msg) { asked <- struct{}{} }))(t)
	c := client(t, natsmsg.Config{Conn: nc})
	go func() {
		<-asked
		s.Shutdown()
	}()
	at := attempt()
	at.Timeout = time.Minute
	got := invoke(t, c, at, `{"mode": "request", "subject": "slow"}`)
	check(t, got, outcome{0, true, false, "the connection to NATS was lost"})
	for _, mode := range []string{"publish", "jetstream", "request"} {
		got = invoke(t, c, at, `{"mode": "`+mode+`", "subject": "slow"}`)
		check(t, got, outcome{0, true, false, "not connected to NATS at the moment"})
	}
	if got.Duration > 10*time.Second {
		t.Errorf("took %v", got.Duration)
	}
}

func TestCanceled(t *testing.T) {
	nc := connect(t, run(t))
	subscribe(t, nc, "slow") // and does not answer
	ctx, cancel := context.WithCancelCause(t.Context())
	stopping := errors.New("the worker stops")
	time.AfterFunc(50*time.Millisecond, func() { cancel(stopping) })
	got := invokeIn(ctx, t, client(t, natsmsg.Config{Conn: nc}), attempt(), `{"mode": "request", "subject": "slow"}`)
	check(t, got, outcome{0, true, false, "failed: canceled: the worker stops"})
}

// The scheduler's own subjects, those of NATS, and those that the settings
// leave out are refused when the job is put, and at the attempt when the
// settings have changed since.
func TestAllow(t *testing.T) {
	nc := connect(t, run(t), nats.CustomInboxPrefix("answers"))
	c := client(t, natsmsg.Config{Conn: nc, Prefix: "team.clock", Allow: []string{"orders.>", "events.*"}})
	tests := map[string]string{
		"orders.a.b":               "",
		"events.a":                 "",
		"events.a.b":               "orders.>, events.*",
		"orders":                   "orders.>, events.*",
		"team.clock":               "belongs to the scheduler",
		"team.clock.fire.0":        "belongs to the scheduler",
		"team.other":               "orders.>, events.*",
		"carillon":                 "belongs to a scheduler, whose subjects begin with carillon",
		"carillon.spec.delete.a.b": "belongs to a scheduler, whose subjects begin with carillon",
		"carillons.x":              "orders.>, events.*",
		"$JS.API.INFO":             "belongs to NATS",
		"$KV.x.y":                  "belongs to NATS",
		"_INBOX.x":                 "belongs to NATS",
		"answers.x":                "inboxes",
	}
	for subject, want := range tests {
		for name, body := range map[string]string{
			"subject": `{"subject": "` + subject + `"}`, "replyTo": `{"subject": "orders.x", "replyTo": "` + subject + `"}`,
		} {
			action, err := read(t, c, newReader(false), body)
			if (err == nil) != (want == "") || (action == nil) != (err != nil) {
				t.Errorf("%s %s: %v", name, subject, err)
			}
			if err != nil && (!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "action.natsMessage."+name)) {
				t.Errorf("%s %s: %v, want %q in it", name, subject, err, want)
			}
			action, err = read(t, c, newReader(true), body)
			if err != nil {
				t.Fatalf("%s %s: stored: %v", name, subject, err)
			}
			if want != "" {
				check(t, actiontest.Invoke(t.Context(), action, attempt()), outcome{0, true, true, want})
			}
		}
		if _, err := read(t, c, newReader(false), `{"subject": "`+subject+`", "servers": "nats://elsewhere"}`); err != nil {
			t.Errorf("%s on another server: %v", subject, err)
		}
	}
}

func TestNoConnection(t *testing.T) {
	got := invoke(t, client(t, natsmsg.Config{}), attempt(), `{"subject": "x"}`)
	check(t, got, outcome{0, true, true, "the job must name servers"})
}

// TestSecretHeaders sends headers that can be written but not read, and shared secrets as others.
func TestSecretHeaders(t *testing.T) {
	s := run(t)
	nc := connect(t, s)
	sub := subscribe(t, nc, "orders")
	c := client(t, natsmsg.Config{Conn: nc})
	const body = `{"subject": "orders", "headers": {"X-Api-Key": "s3cret-key", "Session-Id": {"secretRef": "session"},
		"X-Shop": {"SECRETREF": "shop"}, "Idempotency-Key": "plain", "Nats-Msg-Id": "mine"}}`
	a, shown, err := actiontest.Read(t, c, "natsMessage", `{"natsMessage":`+body+`}`)
	if err != nil {
		t.Fatal(err)
	}
	const headers = `"headers":{"Session-Id":{"secretRef":"session"},"X-Shop":{"secretRef":"shop"},"Idempotency-Key":"plain","Nats-Msg-Id":"mine"}`
	if !strings.Contains(shown.String(), headers) {
		t.Errorf("shown as %s", shown)
	}
	at := attempt()
	shared := map[string]string{"session": "s3ssion", "shop": "north"}
	at.Shared = func(name string) (string, error) {
		if text, ok := shared[name]; ok {
			return text, nil
		}
		return "", errors.New("not found")
	}
	check(t, actiontest.Invoke(t.Context(), a, at), outcome{status: 202})
	got := map[string]string{}
	m := next(t, sub)
	for _, name := range []string{"X-Api-Key", "Session-Id", "X-Shop", "Idempotency-Key", "Nats-Msg-Id"} {
		got[name] = m.Header.Get(name)
	}
	want := map[string]string{
		"X-Api-Key": "s3cret-key", "Session-Id": "s3ssion", "X-Shop": "north", "Idempotency-Key": "plain", "Nats-Msg-Id": "mine",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	shared["session"] = "a\nb"
	check(t, actiontest.Invoke(t.Context(), a, at), outcome{failed: true, text: "the secret for header Session-Id has line breaks or control characters"})
	delete(shared, "session")
	check(t, actiontest.Invoke(t.Context(), a, at), outcome{failed: true, text: `shared secret "session": not found`})
}
