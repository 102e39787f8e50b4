package client_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
)

// TestRunAndWait follows a run whose server goes away before the end is recorded.
func TestRunAndWait(t *testing.T) {
	record := func(sequence int, status, occurrence string) string {
		return fmt.Sprintf(`{"id": "%d", "name": "default/job/%d", "properties": `+
			`{"status": %q, "actionName": "MainAction", "occurrence": %q, "sequence": %d}}`, sequence, sequence, status, occurrence, sequence)
	}
	var tails, runs atomic.Int64
	c := serveBy(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Carillon-Sequence", "5")
		switch {
		case strings.HasSuffix(r.URL.Path, "/run"):
			runs.Add(1)
			_, _ = io.WriteString(w, `{"occurrence": "default/job@now"}`)
		case tails.Add(1) == 1:
			_, _ = io.WriteString(w, "\n"+record(6, "Faulted", "default/job@before")+"\n"+record(7, "Failed", "default/job@now")+"\n")
		case tails.Load() == 2:
			w.WriteHeader(http.StatusBadGateway)
		case r.URL.Query().Get("after") == "7":
			_, _ = io.WriteString(w, record(8, "Faulted", "default/job@now")+"\n")
		}
	})
	var got []string
	c.RunAndWait(t.Context(), scheduler.Key{Collection: "default", Job: "job"}, nil, func(e client.Ended) {
		if e.Err != nil {
			t.Error(e.Err)
			return
		}
		got = append(got, fmt.Sprintf("%s last=%v completed=%v", e.Record.Status, e.Last, e.Completed))
	})
	if want := "Failed last=false completed=false|Faulted last=true completed=false"; strings.Join(got, "|") != want {
		t.Errorf("got %s", strings.Join(got, "|"))
	}
	if runs.Load() != 1 || tails.Load() != 3 {
		t.Errorf("%d runs, %d tails", runs.Load(), tails.Load())
	}
}
