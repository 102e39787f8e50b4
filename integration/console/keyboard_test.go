package console

import (
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/console/tab"
)

// TestHelp opens the list of keys, and closes it, by keys alone. The focus is back where it was then.
func TestHelp(t *testing.T) {
	page := open(t, needed(t).stage.HTTP, tab.Look{})
	must(t, page.Go("/"), page.Press("\t"))
	if at, err := page.Focused(); err != nil || !strings.HasPrefix(at, "A Skip") {
		t.Errorf("the first stop is %q (%v), want the link to the content", at, err)
	}
	must(t, page.Press("?"), page.Await("document.querySelector('#help').open"))
	must(t, page.Press("\u001b"), page.Await("!document.querySelector('#help').open"))
	if at, err := page.Focused(); err != nil || !strings.HasPrefix(at, "A Skip") {
		t.Errorf("the focus is on %q (%v)", at, err)
	}
}
