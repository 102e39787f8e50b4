package exposition_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/emulator/internal/exposition"
)

func TestWrite(t *testing.T) {
	messages := exposition.Metric{Name: "messages", Kind: exposition.Gauge, Help: "Messages\nby \\ entity."}
	messages.Add(2, "entity", `a"\`+"\n", "state", "active")
	messages.Add(0.5, "entity", "b", "state", "")
	plain := exposition.Metric{Name: "connections", Kind: exposition.Gauge, Help: "Connections."}
	plain.Add(12345678)
	w := httptest.NewRecorder()
	exposition.Write(w, messages, exposition.Metric{Name: "none"}, plain)
	const want = `# HELP messages Messages\nby \\ entity.
# TYPE messages gauge
messages{entity="a\"\\\n",state="active"} 2
messages{entity="b",state=""} 0.5
# HELP connections Connections.
# TYPE connections gauge
connections 1.2345678e+07
`
	if diff := cmp.Diff(want, w.Body.String()); diff != "" {
		t.Error(diff)
	}
}

func TestRequests(t *testing.T) {
	var requests exposition.Requests
	handler := requests.Counting(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			w.WriteHeader(http.StatusCreated)
			_ = http.NewResponseController(w).Flush()
		}
	}))
	for _, method := range []string{"GET", "PUT", "GET", "HACK", "FOO"} {
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(method, "/", http.NoBody))
	}
	w := httptest.NewRecorder()
	exposition.Write(w, requests.Metric("requests_total"))
	const want = `# HELP requests_total Requests by method and status.
# TYPE requests_total counter
requests_total{method="GET",status="200"} 2
requests_total{method="PUT",status="201"} 1
requests_total{method="other",status="200"} 2
`
	if diff := cmp.Diff(want, w.Body.String()); diff != "" {
		t.Error(diff)
	}
}
