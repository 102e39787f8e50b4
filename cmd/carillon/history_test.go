package main

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store"
)

// followed runs a live tail, and another command once a line matches: what makes
// the tail end by itself. Its output is the script's.
//
//	followed PATTERN 'carillon delete job' carillon history --follow job
func followed(ts *testscript.TestScript, _ bool, args []string) {
	pattern, err := regexp.Compile(args[0])
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	path, err := exec.LookPath(args[2])
	ts.Check(err)
	cmd := exec.CommandContext(ctx, path, args[3:]...)
	cmd.Env = append(os.Environ(), "CARILLON_SERVER="+ts.Getenv("CARILLON_SERVER"))
	cmd.Stderr = ts.Stderr()
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	lines, seen := bufio.NewScanner(out), false
	var text strings.Builder
	for lines.Scan() {
		_, _ = text.WriteString(lines.Text() + "\n")
		if !seen && pattern.MatchString(lines.Text()) {
			seen = true
			other := strings.Fields(args[1])
			ts.Check(ts.Exec(other[0], other[1:]...))
		}
	}
	if err := cmd.Wait(); err != nil || !seen {
		ts.Fatalf("match: %v, ended with %v:\n%s", seen, err, text.String())
	}
	_, err = ts.Stdout().Write([]byte(text.String()))
	ts.Check(err)
}

// TestHistoryPerJob: 0 is no limit for people, and the default for the store.
func TestHistoryPerJob(t *testing.T) {
	for flag, want := range map[int64]int64{0: store.Unlimited, 1: 1, 1000: 1000} {
		if got := perJob(flag); got != want {
			t.Errorf("%d is %d for the store, want %d", flag, got, want)
		}
	}
}

// TestHistoryPageNamesMembers: the page has every member of a record.
func TestHistoryPageNamesMembers(t *testing.T) {
	page := read(t, "cmd/carillon/docs/history.md")
	for f := range reflect.TypeFor[scheduler.RecordForm]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("it does not tell of %s", name)
		}
	}
}
