package terminal

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/client"
)

// TestHintOfUnavailable: a scheduler that cannot answer at the moment leads to what tells why, and to the page.
func TestHintOfUnavailable(t *testing.T) {
	err := fmt.Errorf("job default/a: %w", &client.Error{Status: http.StatusServiceUnavailable, Message: "not connected to NATS at the moment"})
	hint := Hint(err)
	for _, want := range []string{`"carillon health"`, `"carillon docs recover"`} {
		if !strings.Contains(hint, want) {
			t.Errorf("the hint is %q, without %s", hint, want)
		}
	}
	if hint := Hint(errors.New("something else")); hint != "" {
		t.Errorf("of something else: %q", hint)
	}
}

// TestWithoutPath drops the names of files, of which some are temporary.
func TestWithoutPath(t *testing.T) {
	_, open := os.Open("none")
	for _, err := range []error{open, os.Rename("none", "other")} {
		if got := WithoutPath(err); got.Error() != "no such file or directory" {
			t.Errorf("%v: %v", err, got)
		}
	}
}
