package rest

import (
	"net/http"
	"net/http/httptest"
	"testing"
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
		tail := &tail{form: test.form, to: out, control: http.NewResponseController(out), failed: func() { t.Errorf("%s: failed", name) }}
		tail.Life(0)
		tail.Life(7)
		tail.Life(0)
		tail.Record(9, []byte("{}"))
		if got := out.Body.String(); len(got) < len(test.want) || got[:len(test.want)] != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}
