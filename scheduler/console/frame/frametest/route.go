// Package frametest checks the parts of the console.
package frametest

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
)

// Routes checks that routes that change something, and the pages that ask for the change, require more than the right
// to read, and that event streams are limited in number. asking lists the paths of forms that change nothing in the
// scheduler, or check another right after reading the form.
func Routes(tb testing.TB, sections []frame.Section, asking ...string) {
	tb.Helper()
	elsewhere := []auth.Right{auth.Open, auth.Known, auth.ReadAny, auth.OperateAny, auth.AdministerAny}
	changing := []auth.Right{auth.Operate, auth.OperateAny, auth.Administer}
	forms := []string{"delete", "edit", "new", "send", "resubmit", "purge", "put", "clear"}
	seen := 0
	for _, section := range sections {
		for _, r := range section.Routes {
			seen++
			last := r.Path[strings.LastIndexByte(r.Path, '/')+1:]
			changes := r.Method == http.MethodPost && !slices.Contains(asking, r.Path) || slices.Contains(forms, last)
			if changes && !slices.Contains(changing, r.Right) {
				tb.Errorf("%s %s asks for no more than %s", r.Method, r.Path, r.Right)
			}
			if strings.Contains(r.Path, "{c}") && slices.Contains(elsewhere, r.Right) {
				tb.Errorf("%s %s does not ask for a right on its collection, but for %s", r.Method, r.Path, r.Right)
			}
			if r.Live != (last == "events" && r.Path != frame.Root+"/events") {
				tb.Errorf("%s %s: live is %v", r.Method, r.Path, r.Live)
			}
			if r.Method != http.MethodGet && r.Method != http.MethodPost {
				tb.Errorf("%s %s is no method of forms", r.Method, r.Path)
			}
		}
	}
	if seen < 20 {
		tb.Errorf("there are %d routes", seen)
	}
}
