package consoletest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/console/consoletest"
)

// TestWorld opens the first page, as somebody and as somebody without any role.
func TestWorld(t *testing.T) {
	w := consoletest.New(t)
	if page := w.Get("/"); !strings.Contains(page, "Overview") {
		t.Errorf("the first page is %s", page)
	}
	w.Be("reader@other")
	if page := w.Get("/"); !strings.Contains(page, "token me") {
		t.Errorf("the first page of a reader is %s", page)
	}
	w.Be()
	if r := w.Do(http.MethodGet, "/", ""); r.Status != http.StatusForbidden {
		t.Errorf("without a role: %d", r.Status)
	}
}
