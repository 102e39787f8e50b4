package payload_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/actions/payload"
	"github.com/carillon-sched/carillon/scheduler"
)

func TestFailureFields(t *testing.T) {
	if got := payload.FailureFields(attempt()); got != nil {
		t.Errorf("of a main action: %v", got)
	}
	for _, test := range []struct{ message, want string }{
		{"", ""},
		{"  a \r\n\t b\x00\u0085\u00a0c\x7f ", "a b c"},
		{"“Grüße” – it’s…", `"Gr??e" - it's...`},
		{"\U0001F600 \xff", "? ?"},
		{strings.Repeat("x", 1024), strings.Repeat("x", 1024)},
		{strings.Repeat("x", 1025), strings.Repeat("x", 1021) + "..."},
		{strings.Repeat("x", 1020) + "  yyyyyyy", strings.Repeat("x", 1020) + "..."},
	} {
		a := failed()
		a.Failure = &scheduler.Failure{Attempts: 5, Message: test.message}
		want := []payload.Field{
			{"x-carillon-failed-status", "0"},
			{"x-carillon-failed-attempts", "5"},
			{"x-carillon-failed-message", test.want},
		}
		if diff := cmp.Diff(want, payload.FailureFields(a)); diff != "" {
			t.Errorf("%.40q: %s", test.message, diff)
		}
	}
}

// TestReason renders the short reason of a failure, without the response.
func TestReason(t *testing.T) {
	c, err := readTemplate(t, "{{json .Failure.Reason}}")
	if err != nil {
		t.Fatal(err)
	}
	for message, want := range map[string]string{
		"Http Action - it is \"away\"": `"it is \"away\""`,
		"Http Action - Response from host 'x': 'Bad Gateway' Response Headers: A: b\r\n Body: {}": `"Response from host 'x': 'Bad Gateway'"`,
		"the action panicked": `"the action panicked"`,
	} {
		a := failed()
		a.Failure = &scheduler.Failure{Message: message}
		if m, err := c.Render(a); err != nil || m.Body != want {
			t.Errorf("%q, %v", m.Body, err)
		}
	}
}
