package rest

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// TestSignsOfLife: of events they are comments, which take the place of the client past what it does not want.
func TestSignsOfLife(t *testing.T) {
	for name, test := range map[string]struct {
		form *tailForm
		want string
	}{
		"events": {&events, ": alive\n\n" + ": alive\nid: 7\n\n" + ": alive\n\n" + "id: 9\ndata: "},
		"lines":  {&lines, "\n\n\n{"},
	} {
		out := httptest.NewRecorder()
		tail := &tail{form: test.form, to: out, control: http.NewResponseController(out), failed: func() { t.Errorf("%s: failed", name) }, life: time.NewTimer(time.Hour)}
		tail.live()
		tail.pass(7)
		tail.live()
		tail.live()
		tail.pass(8)
		tail.send(&scheduler.Record{Sequence: 9}) // is the place now
		if got := out.Body.String(); len(got) < len(test.want) || got[:len(test.want)] != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
		if tail.passed != 0 {
			t.Errorf("%s: the place would go back to %d", name, tail.passed)
		}
		tail.close()
	}
}
