package backup_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/backup"
	"github.com/carillon-sched/carillon/store"
)

// to returns an action that calls a path of the target; more ends its request.
func to(path, more string) string {
	return `"action": {"type": "Http", "request": {"method": "GET", "uri": "https://target.example/` + path + `"` + more + `}`
}

const (
	fine  = `}`
	once  = `}, "retryPolicy": {"retryType": "none"}`
	basic = `, "authentication": {"type": "basic", "username": "u", "password": `
)

// kinds are jobs in all states, after 5 minutes and 15 seconds.
var kinds = map[string]string{
	"every30":    `{` + to("", fine) + `, "recurrence": {"frequency": "second", "interval": 30}}`,
	"counted":    `{` + to("", fine) + `, "recurrence": {"frequency": "minute", "count": 10}}`,
	"later":      `{"startTime": "2000-01-01T00:30:00Z", ` + to("", fine) + `}`,
	"far":        `{"startTime": "2290-01-01T00:30:00Z", ` + to("", fine) + `}`,
	"completed":  `{` + to("", fine) + `}`,
	"faulted":    `{` + to("fail", once) + `}`,
	"disabled":   `{` + to("", fine) + `, "recurrence": {"frequency": "minute"}}`,
	"born":       `{` + to("", fine) + `, "state": "disabled", "recurrence": {"frequency": "minute"}}`,
	"retried":    `{` + to("fail", `}, "retryPolicy": {"retryType": "fixed", "retryInterval": "PT20M", "retryCount": 3}`) + `}`,
	"errorAct":   `{"action": {"type": "Http", "request": {"method": "GET", "uri": "https://target.example/fail"}, "retryPolicy": {"retryType": "fixed", "retryInterval": "PT7M", "retryCount": 1}, "errorAction": {"type": "Http", "request": {"method": "GET", "uri": "https://target.example/fail"}, "retryPolicy": {"retryType": "fixed", "retryInterval": "PT11M", "retryCount": 2}}}, "recurrence": {"frequency": "hour"}}`,
	"slow":       `{` + to("slow", fine) + `, "timeout": "PT20M", "recurrence": {"frequency": "hour", "count": 2}}`,
	"overlap":    `{` + to("slow", fine) + `, "timeout": "PT20M", "overlap": "allow", "recurrence": {"frequency": "minute", "interval": 4, "count": 5}}`,
	"byhand":     `{"state": "disabled", ` + to("slow", fine) + `, "timeout": "PT20M", "recurrence": {"frequency": "hour"}}`,
	"cron":       `{` + to("", fine) + `, "recurrence": {"cron": "*/7 * * * *"}, "timeZone": "Europe/Zurich"}`,
	"hashed":     `{` + to("", fine) + `, "recurrence": {"rrule": "DTSTART:20000101T000000Z RRULE:FREQ=HOURLY", "dialect": "dsari"}}`,
	"jittered":   `{` + to("", fine) + `, "jitter": "PT40S", "recurrence": {"frequency": "minute", "interval": 9}}`,
	"secret":     `{` + to("", basic+`"geheim"}`+fine) + `, "recurrence": {"frequency": "minute", "interval": 6}}`,
	"shared":     `{` + to("", basic+`{"secretRef": "common"}}`+fine) + `, "recurrence": {"frequency": "minute", "interval": 6}}`,
	"stopped/a":  `{` + to("", fine) + `, "labels": {"team": "<red> & \u2028"}, "recurrence": {"frequency": "minute", "interval": 3}}`,
	"lostBaton":  `{` + to("", fine) + `, "recurrence": {"frequency": "minute", "interval": 5}}`,
	"hasEnded":   `{` + to("", fine) + `}`,
	"onEvents":   `{` + to("", fine) + `, "trigger": {"on": {"source": "orders"}}}`,
	"damagedJob": `{` + to("", fine) + `, "recurrence": {"frequency": "minute"}}`,
}

// fill creates jobs of all kinds and lets time pass.
func fill(t *testing.T, s *system) {
	t.Helper()
	ctx := t.Context()
	s.must(s.service.PutSecret(ctx, "common", []byte(`{"value": "gemeinsam"}`)))
	s.must(s.service.PutCollection(ctx, "stopped", nil))
	s.must(s.service.PutCollection(ctx, "empty", []byte(`{"properties": {"quota": {"maxJobCount": 3}}}`)))
	must.Get(s.store.Tokens().Save(ctx, "abcdefghij", []byte(`{"id":"abcdefghij"}`), 0))(t)
	for name, body := range kinds {
		s.put(name, body)
	}
	for i := range 300 {
		s.put(fmt.Sprintf("plain%03d", i), `{"startTime": "2000-01-01T00:45:00Z", `+to("", fine)+`}`)
	}
	before := must.Get(s.store.LoadJob(ctx, key("hasEnded")))(t)
	s.start()
	must.Get(s.service.Trigger(ctx, key("byhand")))(t)
	time.Sleep(3*time.Minute + 15*time.Second)
	must.Get(s.service.Disable(ctx, key("disabled")))(t)
	must.Get(s.service.SetCollectionState(ctx, "stopped", scheduler.Disabled))(t)
	time.Sleep(2 * time.Minute)
	s.must(s.store.Clear(ctx, key("lostBaton"), nil))
	now := must.Get(s.store.LoadJob(ctx, key("hasEnded")))(t)
	must.Get(s.store.SaveJob(ctx, key("hasEnded"), before.Data, now.Revision, false))(t) // as before the background task has written it
	damaged := must.Get(s.store.LoadJob(ctx, key("damagedJob")))(t)
	must.Get(s.store.SaveJob(ctx, key("damagedJob"), damaged.Data[:len(damaged.Data)-9], damaged.Revision, false))(t)
}

// compare compares two schedulers.
func compare(t *testing.T, when string, from, back *system) {
	t.Helper()
	want, got := from.jobs(), back.jobs()
	for name := range want {
		want[name] = scheduler.MovedJob(want[name])
		if !bytes.Equal(got[name], want[name]) {
			t.Errorf("%s: %s is stored as\n%s, want\n%s", when, name, got[name], want[name])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d jobs, want %d", when, len(got), len(want))
	}
	views := back.views()
	for name, v := range from.views() {
		g := views[name]
		g.Status.Running, v.Status.Running = false, false // due, without a worker yet
		if v.Job.State == scheduler.Damaged {
			g.Status.Message = v.Status.Message // contains a revision
		}
		if diff := cmp.Diff(v.Status, g.Status); diff != "" || g.Job.State != v.Job.State {
			t.Errorf("%s: %s is %s, want %s: %s", when, name, g.Job.State, v.Job.State, diff)
		}
	}
	for kind, of := range map[string]func(*system) scheduler.Bucket{
		"collection": func(s *system) scheduler.Bucket { return s.store.Collections() },
		"secret":     func(s *system) scheduler.Bucket { return s.store.Secrets() },
		"token":      func(s *system) scheduler.Bucket { return s.store.Tokens() },
		"listener":   func(s *system) scheduler.Bucket { return s.store.Listeners() },
	} {
		if diff := cmp.Diff(valuesOf(t, of(from)), valuesOf(t, of(back))); diff != "" {
			t.Errorf("%s: the %ss differ: %s", when, kind, diff)
		}
	}
}

func valuesOf(t *testing.T, b scheduler.Bucket) map[string]string {
	t.Helper()
	all := map[string]string{}
	must.Do(t, b.Each(t.Context(), func(st scheduler.Stored) error {
		all[st.Key.Job] = string(st.Data)
		return nil
	}))
	return all
}

// TestRestore restores jobs of all kinds to another prefix and number of lanes. All are unchanged and continue as in
// the source.
func TestRestore(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server.Server) {
		key1 := newKey(t)
		from := newSystem(t, s, key1, store.Config{Prefix: "from"})
		fill(t, from)
		file := from.take()
		_, has, err := backup.Verify(bytes.NewReader(file))
		if err != nil || has.Jobs != len(kinds)+300 || has.Collections != 3 || has.Secrets != 1 || has.Tokens != 1 || strings.Join(has.Keys, " ") != "k1" {
			t.Errorf("the backup has %+v, %v", has, err)
		}
		back := newSystem(t, s, key1, store.Config{Prefix: "else.where", Lanes: 3})
		report, err := back.restore(file)
		if n := report.Put; err != nil || n.Jobs != has.Jobs || n.Collections != 2 || report.There.Collections != 1 { // the default collection
			t.Fatalf("restored %+v, %v", report, err)
		}
		compare(t, "at once", from, back)
		if again, err := back.restore(file); err != nil || again.There != has.Counts {
			t.Errorf("restored again: %+v, %v", again, err)
		}
		from.audit() // repairs the same problems in source and target
		back.audit()
		back.start()
		time.Sleep(2*time.Hour + 7*time.Second)
		from.audit()
		back.audit()
		lived(t, from, back)
		for _, sys := range []*system{from, back} {
			report, err := sys.service.Audit(t.Context(), false)
			if err != nil || len(report.Findings) > 0 || report.Jobs != has.Jobs {
				t.Errorf("%s: the audit finds %+v, %v", sys.store.Prefix(), report, err)
			}
		}
		for name, password := range map[string]string{"secret": "Basic dTpnZWhlaW0=", "shared": "Basic dTpnZW1laW5zYW0="} {
			calls := back.sink.seen(name)
			if len(calls) < 19 || calls[0].by != password {
				t.Errorf("%s: %d calls, the first by %+v", name, len(calls), calls)
			}
		}
	})
}

// lived compares the jobs after hours: a job that was running is called twice for one occurrence, and the rest is
// equal.
func lived(t *testing.T, from, back *system) {
	t.Helper()
	views := back.views()
	for name, v := range from.views() {
		g := views[name]
		want := fmt.Sprintf("%s: %d occurrences, %d executions, %d failures, %d faults, next %s",
			v.Job.State, v.Status.Occurrences, v.Status.Executions, v.Status.Failures, v.Status.Faults, v.Status.Next)
		got := fmt.Sprintf("%s: %d occurrences, %d executions, %d failures, %d faults, next %s",
			g.Job.State, g.Status.Occurrences, g.Status.Executions, g.Status.Failures, g.Status.Faults, g.Status.Next)
		if got != want {
			t.Errorf("%s: after hours it is\n%s, want\n%s", name, got, want)
		}
		keys := map[string]int{}
		for _, c := range back.sink.seen(name) {
			keys[c.key]++
		}
		for _, c := range from.sink.seen(name) {
			keys[c.key]--
		}
		for k, n := range keys {
			if n > 0 {
				t.Errorf("%s: %s was called %d times more often than where it comes from", name, k, n)
			}
		}
	}
	var words []string
	for _, name := range []string{"counted", "completed", "faulted", "later", "slow", "overlap", "retried", "hasEnded"} {
		words = append(words, name+" "+string(views[key(name).String()].Job.State))
	}
	const want = "counted completed, completed completed, faulted faulted, later completed, slow completed, overlap completed, " +
		"retried faulted, hasEnded completed"
	if got := strings.Join(words, ", "); got != want {
		t.Errorf("after hours: %s, want %s", got, want)
	}
	for _, name := range []string{"completed", "faulted", "hasEnded", "disabled", "born"} {
		if calls := back.sink.seen(name); len(calls) > 0 {
			t.Errorf("%s was called: %+v", name, calls)
		}
	}
}

// TestRestoreDisabled restores jobs as disabled.
func TestRestoreDisabled(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server.Server) {
		key1 := newKey(t)
		from := newSystem(t, s, key1, store.Config{Prefix: "from"})
		fill(t, from)
		back := newSystem(t, s, key1, store.Config{Prefix: "rehearsal", Lanes: 2})
		must.Get(back.restore(from.take(), func(c *backup.RestoreConfig) { c.Disabled = true }))(t)
		from.halt()
		back.start()
		time.Sleep(time.Hour)
		if len(back.sink.calls) > 0 {
			t.Errorf("%d calls while all is disabled", len(back.sink.calls))
		}
		was := from.views()
		for name, v := range back.views() {
			if state := was[name].Job.State; v.Job.State != scheduler.Disabled && v.Job.State != state {
				t.Errorf("%s is %s", name, v.Job.State)
			}
			if name != key("lostBaton").String() && v.Status.Executions != was[name].Status.Executions { // the records are newer
				t.Errorf("%s: %d executions, want %d", name, v.Status.Executions, was[name].Status.Executions)
			}
		}
		must.Get(back.service.Enable(t.Context(), key("counted")))(t)
		time.Sleep(time.Hour)
		if calls := back.sink.seen("counted"); len(calls) != 4 {
			t.Errorf("the other half of a count of ten are %d calls", len(calls))
		}
		if report, err := back.service.Audit(t.Context(), false); err != nil || len(report.Findings) > 1 { // damaged jobs stay damaged
			t.Errorf("the audit finds %+v, %v", report, err)
		}
	})
}

// TestExisting restores over existing objects.
func TestExisting(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server.Server) {
		key1 := newKey(t)
		from := newSystem(t, s, key1, store.Config{Prefix: "from"})
		every := func(minutes int) string {
			return fmt.Sprintf(`{%s, "recurrence": {"frequency": "minute", "interval": %d}}`, to("", fine), minutes)
		}
		for _, name := range []string{"same", "edited", "foreign", "older", "deleted"} {
			from.put(name, every(5))
		}
		file := from.take()
		from.put("edited", every(6))
		newer := from.take()

		back := newSystem(t, s, key1, store.Config{Prefix: "back", Lanes: 2})
		back.put("foreign", every(50))
		report := back.plan(file, backup.Refuse)
		if err := report.Conflict(); !errors.Is(err, scheduler.ErrConflict) || strings.Join(report.Names, " ") != "job default/foreign" {
			t.Errorf("something else is there: %v, %v", err, report.Names)
		}
		if _, err := back.restore(file); !errors.Is(err, scheduler.ErrConflict) {
			t.Errorf("restored over something else: %v", err)
		}
		keep := func(c *backup.RestoreConfig) { c.Existing = backup.Keep }
		replace := func(c *backup.RestoreConfig) { c.Existing = backup.Replace }
		must.Get(back.restore(file, keep))(t)
		interval := func(name string) string {
			v := must.Get(back.service.Get(t.Context(), key(name)))(t)
			return string(v.Job.Def.Properties())
		}
		if got := interval("foreign"); !strings.Contains(got, `"interval":50`) {
			t.Errorf("what was to be kept is now %s", got)
		}
		back.start()
		time.Sleep(time.Minute)
		back.must(back.service.Delete(t.Context(), key("deleted"), 0))
		if report, err := back.restore(newer, keep); err != nil || report.Put.Jobs != 1 || report.Kept.Jobs != 2 {
			t.Errorf("restored a later backup: %+v, %v", report, err)
		}
		if report, err := back.restore(newer, replace); err != nil || report.Replaced.Jobs != 2 || report.There.Jobs != 3 {
			t.Errorf("restored a later backup over it: %+v, %v", report, err)
		}
		for name, minutes := range map[string]string{"foreign": "5", "edited": "6", "deleted": "5"} {
			if got := interval(name); !strings.Contains(got, `"interval":`+minutes+`}`) {
				t.Errorf("%s is now %s", name, got)
			}
		}
		if report, err := back.restore(file); err != nil || report.There.Jobs != 5 {
			t.Errorf("an earlier backup of what was edited since: %+v, %v", report, err)
		}
		if report, err := back.restore(file, replace); err != nil || report.Replaced.Jobs != 1 {
			t.Errorf("rolled back: %+v, %v", report, err)
		}
		time.Sleep(time.Hour)
		if n := len(back.sink.seen("edited")); n != 13 { // the first one immediately
			t.Errorf("every five minutes, it was called %d times in an hour", n)
		}
		if report, err := back.service.Audit(t.Context(), false); err != nil || len(report.Findings) > 0 {
			t.Errorf("the audit finds %+v, %v", report, err)
		}
	})
}

// TestMessagesLeft: a restore leaves one message per job, according to the streams of both stores.
func TestMessagesLeft(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server.Server) {
		key1 := newKey(t)
		from := newSystem(t, s, key1, store.Config{Prefix: "from", Lanes: 4})
		for i := range 50 {
			from.put(fmt.Sprintf("job%d", i), `{`+to("", fine)+`, "recurrence": {"frequency": "day"}}`)
		}
		from.start()
		time.Sleep(time.Minute)
		back := newSystem(t, s, key1, store.Config{Prefix: "back"})
		for range 3 {
			must.Get(back.restore(from.take()))(t)
		}
		js := must.Get(jetstream.New(back.nc))(t)
		st := must.Get(js.Stream(t.Context(), "BACK_TIMERS_0"))(t)
		if n := st.CachedInfo().State.Msgs; n != 50 {
			t.Errorf("%d batons of 50 jobs", n)
		}
	})
}
