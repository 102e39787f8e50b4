package console

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/integration/suite/console/tab"
)

// TestNight repairs a mass failure by the console alone: a target fails for 500 of 20,000 jobs. The overview leads to the cause in
// one click. Its jobs are paused and, once the target is repaired, resumed, and what failed runs again.
func TestNight(t *testing.T) {
	s := own(t)
	var broken atomic.Bool
	broken.Store(true)
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if broken.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, "the database is read-only")
		}
	}))
	t.Cleanup(target.Close)
	const jobs, failing = 20_000, 500
	var puts errgroup.Group
	puts.SetLimit(8)
	for i := range jobs {
		uri, every := s.HTTP+"/echo", map[string]any{"frequency": "hour"}
		if i < failing {
			uri, every = target.URL, map[string]any{"frequency": "second", "interval": 30}
		}
		puts.Go(func() error {
			return s.Put(t.Context(), "default", fmt.Sprintf("job-%d", i), map[string]any{"recurrence": every, "action": map[string]any{
				"type": "http", "retryPolicy": map[string]any{"retryType": "none"}, "request": map[string]any{"method": "GET", "uri": uri},
			}})
		})
	}
	must(t, puts.Wait())

	page := open(t, s.HTTP, wideLook)
	host := strings.TrimPrefix(target.URL, "http://")
	must(t, page.Go("/"), page.Text("#failures tbody tr", "500"), page.Text("#failures tbody tr", "open"), page.Click("#failures tbody td:nth-child(2) a"))
	must(t, page.Text("h1", host+" 503 Http"), page.Text("#facts", "the database is read-only"), page.Text("#jobs", "and 450 others"))
	accessible(t, page, "the cause")
	group, err := tab.Eval[string](page, "location.pathname")
	must(t, err)

	confirm := func() {
		must(t, page.Click("main form button.main"), page.Text("main", "Finished: 500 jobs processed."))
	}
	must(t, page.Click("main button[value=pause]"), page.Text("h1", "500 jobs"))
	confirm()
	must(t, page.Text("#held", "500 jobs are paused."))
	broken.Store(false)
	must(t, page.Go(group), page.Click("main button[value=enable]"), page.Text("h1", "500 jobs"))
	confirm()
	must(t, page.Go(group), page.Click("main button[value=resubmit]"), page.Text("h1", "occurrences"))
	must(t, page.Click("main form button.main"), page.Await("!document.querySelector('#progress progress')"))
	must(t, s.Await(t.Context(), func() bool {
		return strings.Contains(api(t, s, http.MethodGet, "/failures", nil), `"state":"resolved"`)
	}))
	must(t, page.Go("/"), page.Text("#failures", "No open failures."))
}
