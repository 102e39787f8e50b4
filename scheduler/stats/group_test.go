package stats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/carillon-sched/carillon/actions/netreason"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
)

// failed returns the record of a failed attempt of a job so long before noon.
func failed(job string, ago time.Duration) *scheduler.Record {
	k := scheduler.KeyIn("c", job)
	return &scheduler.Record{
		Job: k, Outcome: scheduler.OutcomeFailed, Occurrence: scheduler.OccurrenceID(k, noon.Add(-ago)), Ended: noon.Add(-ago),
		Status: 503, Summary: "Service Unavailable", Response: "try later", Type: "Http", Target: "a.example:443",
	}
}

// faulted returns the record of an occurrence that failed after all retries.
func faulted(job string, ago time.Duration) *scheduler.Record {
	r := failed(job, ago)
	r.Outcome, r.FaultedAt, r.Response = scheduler.OutcomeFaulted, r.Ended, ""
	return r
}

// success returns the record of a successful attempt.
func success(job string, ago time.Duration) *scheduler.Record {
	r := failed(job, ago)
	r.Outcome, r.Status = scheduler.OutcomeCompleted, 200
	return r
}

// expired returns a context whose deadline has passed.
func expired(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	t.Cleanup(cancel)
	return ctx
}

func everything(string) bool { return true }

// groupsOf returns the groups of recorders.
func groupsOf(t *testing.T, now time.Time, all ...*Recorder) []*v1.FailureGroup {
	t.Helper()
	b := NewBoard(now)
	for _, r := range all {
		b.AddGroups(r.Groups(now))
	}
	b.Finish()
	return b.FailureGroups(everything)
}

// TestFailuresAreGrouped counts attempts, jobs and minutes of two processes by cause.
func TestFailuresAreGrouped(t *testing.T) {
	var one, other Recorder
	for i, job := range []string{"x", "y", "x", "d/z"} {
		one.Add(failed(job, time.Duration(10-i)*time.Minute), noon)
	}
	one.Add(faulted("x", 7*time.Minute), noon)
	other.Add(failed("y", 5*time.Minute), noon)
	lost := failed("x", time.Minute)
	lost.Status, lost.Summary = 0, "Http Action - Request to host 'a.example:443' failed: connection refused"
	other.Add(lost, noon)
	want := []*v1.FailureGroup{
		{
			Target: "a.example:443", Class: "503", ActionType: "Http", Collections: []string{"c", "d"}, Attempts: 5, Faulted: 1, Jobs: 3,
			First: noon.Add(-10 * time.Minute), Last: noon.Add(-5 * time.Minute), Selection: &v1.FailureSelection{Jobs: []string{"c/x", "c/y", "d/z"}},
			Example: v1.FailureExample{
				Job: "c/y", Occurrence: failed("y", 5*time.Minute).Occurrence, At: noon.Add(-5 * time.Minute), Answer: "503 Service Unavailable: try later",
			},
		},
		{
			Target: "a.example:443", Class: "connection refused", ActionType: "Http", Collections: []string{"c"}, Attempts: 1, Jobs: 1,
			First: noon.Add(-time.Minute), Last: noon.Add(-time.Minute), Selection: &v1.FailureSelection{Jobs: []string{"c/x"}},
			Example: v1.FailureExample{Job: "c/x", Occurrence: lost.Occurrence, At: lost.Ended, Answer: lost.Summary + ": try later"},
		},
	}
	got := groupsOf(t, noon, &one, &other)
	ignored := cmpopts.IgnoreFields(v1.FailureGroup{}, "ID", "Minutes")
	if diff := cmp.Diff(want, got, ignored); diff != "" {
		t.Fatalf("the groups (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(got, groupsOf(t, noon, &other, &one)); diff != "" {
		t.Errorf("the groups depend on the order:\n%s", diff)
	}
	if got[0].ID == got[1].ID || len(got[0].ID) != 16 {
		t.Errorf("the IDs are %s and %s", got[0].ID, got[1].ID)
	}
	minutes := make([]uint64, minutesShown)
	for _, ago := range []int{10, 9, 8, 7, 5} {
		minutes[minutesShown-1-ago] = 1
	}
	if diff := cmp.Diff(minutes, got[0].Minutes); diff != "" {
		t.Errorf("the minutes (-want +got):\n%s", diff)
	}
	b := NewBoard(noon)
	b.AddGroups(one.Groups(noon))
	b.Finish()
	some := b.FailureGroups(func(c string) bool { return c == "d" })
	if len(some) != 1 || some[0].Attempts != 1 || some[0].Jobs != 1 || some[0].Example.Job != "d/z" || some[0].ID != got[0].ID {
		t.Errorf("a caller who sees d only gets %+v", some)
	}
	if later := groupsOf(t, noon.Add(groupAge), &one); len(later) != 0 {
		t.Errorf("%d groups after a day", len(later))
	}
}

// TestGroupsResolve follows a group from its resolution to its next failure.
func TestGroupsResolve(t *testing.T) {
	var r Recorder
	r.Add(failed("x", 10*time.Minute), noon)
	state := func(ago time.Duration) (resolved bool, attempts uint64, first time.Time) {
		t.Helper()
		g := groupsOf(t, noon.Add(-ago), &r)
		if len(g) != 1 {
			t.Fatalf("%d groups", len(g))
		}
		return !g[0].Resolved.IsZero(), g[0].Attempts, g[0].First
	}
	for _, other := range []*scheduler.Record{
		success("another", 9*time.Minute), success("x", 11*time.Minute), success("d/x", 9*time.Minute),
	} {
		r.Add(other, noon)
		if resolved, _, _ := state(5 * time.Minute); resolved {
			t.Errorf("%s at %s resolves it", other.Job, other.Ended)
		}
	}
	elsewhere := success("x", 9*time.Minute)
	elsewhere.Target = "b.example:443"
	r.Add(elsewhere, noon)
	if resolved, _, _ := state(5 * time.Minute); resolved {
		t.Error("another target resolves it")
	}
	r.Add(success("x", 10*time.Minute-time.Second), noon)
	if resolved, _, _ := state(10*time.Minute - 2*time.Second); resolved {
		t.Error("it is resolved immediately")
	}
	if resolved, _, _ := state(10*time.Minute - quiet); !resolved {
		t.Error("it is not resolved")
	}
	r.Add(failed("y", 5*time.Minute), noon)
	if resolved, n, first := state(4 * time.Minute); resolved || n != 1 || !first.Equal(noon.Add(-5*time.Minute)) {
		t.Errorf("after another failure: resolved %t, %d attempts since %s", resolved, n, first)
	}
}

// TestGroupsResolveElsewhere has one process see failures, and another one the success after them.
func TestGroupsResolveElsewhere(t *testing.T) {
	var one, other Recorder
	one.Add(failed("x", 10*time.Minute), noon)
	adopt := func(r *Recorder, now time.Time) {
		b := NewBoard(now)
		b.AddGroups(one.Groups(now))
		b.AddGroups(other.Groups(now))
		b.Finish()
		r.Adopt(b.Groups, now)
	}
	adopt(&other, noon.Add(-9*time.Minute))
	if all := other.Groups(noon); len(all) != 0 {
		t.Errorf("it publishes groups of others: %+v", all)
	}
	other.Add(success("x", 8*time.Minute), noon)
	if g := groupsOf(t, noon, &one, &other); len(g) != 1 || g[0].Resolved.IsZero() || g[0].Attempts != 1 {
		t.Errorf("%+v", g)
	}
	other.Add(failed("y", 5*time.Minute), noon)
	if g := groupsOf(t, noon, &one, &other); len(g) != 1 || !g[0].Resolved.IsZero() || g[0].Jobs != 1 || g[0].Attempts != 1 {
		t.Errorf("what was resolved counts again: %+v", g[0])
	}
	adopt(&one, noon.Add(-4*time.Minute))
	one.Add(failed("x", 3*time.Minute), noon)
	if g := groupsOf(t, noon, &one, &other); g[0].Attempts != 2 || g[0].Jobs != 2 || !g[0].First.Equal(noon.Add(-5*time.Minute)) {
		t.Errorf("%+v", g[0])
	}
}

// TestPartlyResolved has a target answer the jobs of one collection only.
func TestPartlyResolved(t *testing.T) {
	var r Recorder
	r.Add(failed("c/x", 10*time.Minute), noon)
	r.Add(failed("d/x", 9*time.Minute), noon)
	r.Add(success("c/x", 8*time.Minute), noon)
	if g := groupsOf(t, noon, &r); len(g) != 1 || !g[0].Resolved.IsZero() || g[0].Jobs != 1 || !g[0].First.Equal(noon.Add(-9*time.Minute)) {
		t.Errorf("%+v", g[0])
	}
	r.Add(success("d/x", 7*time.Minute), noon)
	if g := groupsOf(t, noon, &r); len(g) != 1 || !g[0].Resolved.Equal(noon.Add(-7*time.Minute)) || g[0].Jobs != 2 {
		t.Errorf("%+v", g[0])
	}
}

// TestClasses has the reasons of package netreason, and texts that name things.
func TestClasses(t *testing.T) {
	dial := func(err error) error { return &net.OpError{Op: "dial", Err: err} }
	for class, all := range map[string][]string{
		"connection refused": {netreason.Reason(dial(syscall.ECONNREFUSED))},
		"connection reset":   {netreason.Reason(dial(syscall.ECONNRESET))},
		"connection closed":  {netreason.Reason(io.EOF), netreason.Reason(dial(syscall.ECONNABORTED)), netreason.Reason(dial(syscall.EPIPE))},
		"unreachable":        {netreason.Reason(dial(syscall.EHOSTUNREACH)), netreason.Reason(dial(syscall.ENETUNREACH))},
		"name not found":     {netreason.Reason(&net.DNSError{Name: "x.example", IsNotFound: true})},
		"name lookup":        {netreason.Reason(&net.DNSError{Name: "x.example", Err: "server misbehaving"})},
		"timeout": {
			netreason.Reason(dial(os.ErrDeadlineExceeded)), netreason.Reason(os.ErrDeadlineExceeded), netreason.Reason(dial(syscall.ETIMEDOUT)),
			netreason.Ended(expired(t), "while connecting", time.Minute, time.Minute),
		},
		"TLS":      {netreason.Reason(errors.New("net/http: TLS handshake timeout"))},
		"canceled": {"canceled: by me"},
		"panic":    {"the action panicked: index 7 out of range"},
		"error":    {"job 4711 is unknown", "", strings.Repeat("x", 5000) + "connection refused"},
	} {
		for _, text := range all {
			for _, r := range []*scheduler.Record{{Summary: text}, {Message: "Http Action - Request to host 'x' failed: " + text}} {
				if got := classOf(r); got != class {
					t.Errorf("%q: %s, want %s", text, got, class)
				}
			}
		}
	}
	if got := classOf(&scheduler.Record{Reason: scheduler.ReasonCanceled, Summary: "timed out"}); got != "canceled" {
		t.Errorf("the reason of a record: %s", got)
	}
}

// TestGroupsAreBounded has hostile targets, texts and numbers of jobs.
func TestGroupsAreBounded(t *testing.T) {
	var r Recorder
	add := func(target, job string, i int) {
		f := failed(job, time.Duration(i)*time.Millisecond)
		f.Target, f.Status, f.Summary, f.Response = target, 0, fmt.Sprintf("id %d <%s", i, strings.Repeat("&<\u202eü", 400)), strings.Repeat("\x00<", 1000)
		r.Add(f, noon)
	}
	long := strings.Repeat("j", 100)
	for i := range 3 * jobsMost {
		add("one", fmt.Sprintf("%s/%s%d", long, long[:95], i), i)
		add("one", fmt.Sprintf("%s/%s%d", long, long[:95], i), i)
	}
	for i := range 3 * groupsMost {
		add(fmt.Sprintf("%s%d", strings.Repeat("h", 300), i), "x", i)
		add(fmt.Sprintf("host%d", i), fmt.Sprintf("job%d", i), i)
	}
	all := r.Groups(noon)
	if len(all) != groupsMost {
		t.Errorf("%d groups", len(all))
	}
	i := slices.IndexFunc(all, func(g Group) bool { return g.Target == "one" })
	if i < 0 || all[i].Attempts != 6*jobsMost || len(all[i].Jobs) != jobsMost || !all[i].More || all[i].Class != "error" {
		t.Fatalf("the largest group is at %d: %+v", i, all[i])
	}
	for _, g := range all {
		if len(g.Target) > targetMost || len(g.Example.Answer) > whyMost+len("…") || !utf8.ValidString(g.Example.Answer) || strings.ContainsAny(g.Example.Answer, "\n") {
			t.Errorf("%d bytes, %q", len(g.Target), g.Example.Answer)
		}
	}
	var data []byte
	r.ChangedGroups(noon, func(d []byte) bool { data = d; return true })
	if len(data) > 1<<20-4096 {
		t.Errorf("they take %d bytes", len(data))
	}
	groups := r.groups
	names := 0
	for _, g := range groups.by {
		names += len(g.jobs)
	}
	if names != groups.names || names > namesMost || len(groups.of) > groupsMost {
		t.Errorf("%d names, counted %d, of %d targets", names, groups.names, len(groups.of))
	}
	g := groupsOf(t, noon, &r)
	i = slices.IndexFunc(g, func(g *v1.FailureGroup) bool { return g.Target == "one" })
	if diff := cmp.Diff(&v1.FailureSelection{Target: "one", Action: "Http"}, g[i].Selection); !g[i].AtLeast || diff != "" {
		t.Errorf("the selection of a group with unknown jobs (-want +got):\n%s", diff)
	}
}

// TestCircuit shows the circuit breaker of the target of a group.
func TestCircuit(t *testing.T) {
	var r Recorder
	r.Add(failed("x", 0), noon)
	b := NewBoard(noon)
	b.AddGroups(r.Groups(noon))
	b.AddReport(Report{ID: "one", At: noon, Targets: []Target{
		{Name: "a.example:443", Collection: "hidden", State: TargetOpen},
		{Name: "a.example:443", Collection: "c", State: TargetHalf, Until: noon},
		{Name: "a.example:443", State: TargetSlow},
	}})
	b.Finish()
	for want, sees := range map[string]func(string) bool{
		TargetHalf: func(c string) bool { return c == "c" }, TargetOpen: everything,
	} {
		if got := b.FailureGroups(sees)[0].Circuit; got != want {
			t.Errorf("the circuit is %q, want %q", got, want)
		}
	}
}

// TestGroupsArePublished writes groups after a change, and reads them.
func TestGroupsArePublished(t *testing.T) {
	var r Recorder
	var written [][]byte
	write := func(ok bool) {
		r.ChangedGroups(noon, func(data []byte) bool {
			written = append(written, data)
			return ok
		})
	}
	write(true)
	r.Add(failed("x", time.Minute), noon)
	write(false)
	write(true)
	write(true)
	r.Add(success("x", 0), noon)
	write(true)
	r.Add(success("x", 0), noon)
	write(true)
	if len(written) != 3 {
		t.Fatalf("they were written %d times", len(written))
	}
	got, err := ReadGroups(written[2])
	if diff := cmp.Diff(r.Groups(noon), got); err != nil || diff != "" {
		t.Errorf("%v, read (-want +got):\n%s", err, diff)
	}
	if _, err := ReadGroups([]byte("[{")); err == nil {
		t.Error("a half is read")
	}
	if !json.Valid(written[0]) || NewBoard(noon.Add(25*time.Hour)).AddGroups(got) {
		t.Error("groups without a failure in the last day are added")
	}
}
