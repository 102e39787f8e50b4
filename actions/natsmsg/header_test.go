package natsmsg_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/natsmsg"
	"github.com/carillon-sched/carillon/scheduler/document"
)

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

// TestSecretHeaderProblems has what is told of secret headers when a job is put, without them.
func TestSecretHeaderProblems(t *testing.T) {
	for body, want := range map[string]string{
		`{"X-Key": "plant\ned"}`:                         `headers.X-Key: must not contain line breaks or control characters`,
		`{"X-Key": 1}`:                                   `headers.X-Key: must be a string or {"secretRef": name}, not a number`,
		`{"X": {"ref": "planted"}}`:                      `headers.X.secretRef: is required`,
		`{"X-Key": "a", "x-key": "b"}`:                   `headers.x-key: is given twice, in different letter case`,
		`{"Nats-Rollup-Key": "planted"}`:                 `headers.Nats-Rollup-Key: tells NATS what to do with the message, and cannot be given`,
		`{"X-Key": "` + strings.Repeat("x", 4092) + `"}`: `headers: names and values are 4097 characters long together`,
	} {
		_, err := read(t, client(t, natsmsg.Config{}), document.NewReader(), `{"subject": "a", "headers": `+body+`}`)
		if err == nil || !strings.HasPrefix(err.Error(), "action.natsMessage."+want) || strings.Contains(err.Error(), "planted") {
			t.Errorf("%s: got %v", body, err)
		}
	}
}
