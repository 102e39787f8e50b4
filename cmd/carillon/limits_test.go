package main

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/store/conn"
)

// thousands writes a number as the pages do: 12,288.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// TestLimitsPage compares the page of the limits with those that the program has.
func TestLimitsPage(t *testing.T) {
	page := read(t, pageFile("limits"))
	for row, want := range map[string]string{
		"name of a collection, job or secret": thousands(scheduler.MaxName) + " bytes",
		"a job or collection document":        thousands(scheduler.MaxJobSize>>10) + " KB",
		"`description`":                       thousands(scheduler.MaxDescription) + " bytes",
		"a secret":                            thousands(document.MaxSecret) + " bytes",
		"instants of a preview":               thousands(control.MaxPreview),
		"`timeout`":                           "1 s to " + fmt.Sprint(scheduler.MaxTimeout.Minutes()) + " min",
		"`retryCount`":                        thousands(scheduler.MaxRetryCount),
		"the answer to a request":             thousands(scheduler.MaxResponse) + " bytes are kept",
		"a page of a list":                    thousands(v1.MaxPage) + " entries",
		"history":                             thousands(conn.DefaultHistoryPerJob) + " records",
		"completed and faulted jobs":          thousands(int(conn.DefaultFinalAge.Hours()/24)) + " days",
		"`--lanes`":                           thousands(conn.MaxLanes),
		"`--replicas`":                        thousands(conn.MaxReplicas),
	} {
		m := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(row) + ` +\| (.*) \|$`).FindStringSubmatch(page)
		if len(m) != 2 || !strings.Contains(m[1], want) {
			t.Errorf("%s: the page says %q, want %q", row, m, want)
		}
	}
}

// TestServeFlagsAreVariables holds what the page of high availability says: every flag of serve is a variable too, and how that
// is called.
func TestServeFlagsAreVariables(t *testing.T) {
	parser, _ := newParser(&terminal.Terminal{Out: io.Discard, Err: io.Discard})
	page := read(t, pageFile("high-availability"))
	for _, command := range parser.Model.Children {
		if command.Name != "serve" {
			continue
		}
		for _, flag := range command.Flags {
			want := "CARILLON_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
			if flag.Name == "echo" || flag.Name == "config" {
				want = "CARILLON_SERVE_" + strings.ToUpper(flag.Name)
			}
			if len(flag.Envs) != 1 || flag.Envs[0] != want {
				t.Errorf("--%s: variables %v, want %s", flag.Name, flag.Envs, want)
			}
		}
		if len(command.Flags) < 30 || !strings.Contains(page, "CARILLON_SERVE_ECHO") {
			t.Errorf("%d flags; the page names the exception: %v", len(command.Flags), strings.Contains(page, "CARILLON_SERVE_ECHO"))
		}
	}
}
