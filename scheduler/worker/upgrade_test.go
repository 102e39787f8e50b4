package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/natsmsg"
	"github.com/carillon-sched/carillon/actions/servicebus"
	"github.com/carillon-sched/carillon/actions/storagequeue"
	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/integration/bubble"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/natsapi"
	"github.com/carillon-sched/carillon/scheduler/secrets"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/view"
	"github.com/carillon-sched/carillon/scheduler/worker"
	"github.com/carillon-sched/carillon/store"
)

// bodies notes the bodies of requests.
type bodies struct {
	http.RoundTripper

	mu   sync.Mutex
	seen map[string]string // by URL, the last one
}

// RoundTrip implements [http.RoundTripper].
func (b *bodies) RoundTrip(req *http.Request) (*http.Response, error) {
	data, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	b.seen[req.URL.String()] = string(data)
	b.mu.Unlock()
	return b.RoundTripper.RoundTrip(req)
}

func (b *bodies) of(url string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.seen[url]
}

// upgraded is a scheduler of this version on what an earlier one has stored. It
// has no worker yet.
type upgraded struct {
	*world

	reader scheduler.ActionReader
	bodies *bodies
}

func upgrade(t *testing.T, s *stored) *upgraded {
	t.Helper()
	time.Sleep(time.Until(s.inOrder()[0].Time)) // no server ticks yet
	srv, err := server.NewServer(&server.Options{
		DontListen: true, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	srv.Start()
	t.Cleanup(func() { srv.Shutdown(); srv.WaitForShutdown() })
	w := &world{t: t, server: srv, sink: &sink{answer: func(*call) (int, string) { return http.StatusOK, "" }}}
	w.config = store.Config{Storage: jetstream.MemoryStorage}
	old := w.connect()
	s.restore(t, old)
	old.Close()
	w.nc, w.store = w.open()
	keys, err := seal.ParseKeys(s.Key)
	if err != nil {
		t.Fatal(err)
	}
	w.vault = secrets.NewVault(secrets.Config{Store: w.store.Secrets(), Keys: keys})
	u := &upgraded{world: w, bodies: &bodies{RoundTripper: w.sink, seen: map[string]string{}}}
	u.reader = actions.New(
		web.New(web.Config{Transport: u.bodies}), lockedReader{w.sink}, storagequeue.New(storagequeue.Config{}),
		servicebus.New(servicebus.Config{}), natsmsg.New(natsmsg.Config{Conn: w.nc}),
	)
	w.service = service.New(service.Config{
		Store: w.store, Actions: u.reader, Limits: scheduler.Limits{MinRetryInterval: time.Second}, Secrets: w.vault,
	})
	if err := w.service.EnsureDefault(t.Context()); err != nil {
		t.Fatal(err)
	}
	return u
}

// connect makes a connection once the server and its JetStream run.
func (w *world) connect() *nats.Conn {
	w.t.Helper()
	for !w.server.Running() {
		time.Sleep(time.Millisecond)
	}
	nc, err := nats.Connect("", nats.InProcessServer(w.server))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		w.t.Fatal(err)
	}
	for {
		if _, err := js.AccountInfo(w.t.Context()); err == nil {
			return nc
		}
		time.Sleep(time.Millisecond)
	}
}

// mustShow compares the views of this version with those of the earlier one.
func (u *upgraded) mustShow(t *testing.T, s *stored) {
	t.Helper()
	for _, want := range s.Views {
		k := keyOf(want.name(t))
		v, err := u.service.Get(t.Context(), k)
		if err != nil {
			t.Errorf("%s: %v", k, err)
			continue
		}
		if over := v.Status.Over; (over != "") != v.Job.State.Final() {
			t.Errorf("%s is %s, and has come to %q", k, v.Job.State, over)
		}
		v.Status.Over = "" // which that version did not tell
		if got := string(view.JSON(v)); !sameJSON(t, withoutNews(t, got), shownNow(k, string(want.Job))) {
			t.Errorf("%s is shown as\n%s\nwant\n%s", k, got, shownNow(k, string(want.Job)))
		}
		records, _, err := u.service.History(t.Context(), service.HistoryQuery{Key: k}, view.Page{})
		if err != nil || len(records) != len(want.History) {
			t.Errorf("%s has %d records, want %d: %v", k, len(records), len(want.History), err)
			continue
		}
		for i, r := range records {
			r.UID, r.Sequence = "", 0                                                        // the earlier version did not show them
			got := strings.Replace(string(view.JSON(view.Record(r))), `"version":2,`, "", 1) // nor that
			if got != string(want.History[i]) {
				t.Errorf("a record of %s is shown as\n%s\nwant\n%s", k, got, want.History[i])
			}
		}
	}
}

// statusNews are the members of a status that the earlier version did not show.
var statusNews = []string{"occurrenceCount", "secrets"}

// withoutNews is a job's document as the earlier version showed it.
func withoutNews(t *testing.T, shown string) string {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal([]byte(shown), &doc); err != nil {
		t.Fatal(err)
	}
	delete(doc, "etag")
	status := doc["properties"].(map[string]any)["status"].(map[string]any)
	for _, name := range statusNews {
		delete(status, name)
	}
	return string(view.JSON(doc))
}

var nextExecution = regexp.MustCompile(`"nextExecutionTime":"[^"]*"`)

// shownNow is what this version makes of a view of the earlier one: a job of the disabled collection waits for that, and says so;
// one that a worker holds until it is due waits still.
func shownNow(k scheduler.Key, before string) string {
	if k == key("held") {
		return strings.Replace(before, `,"running":true`, "", 1)
	}
	if k.Collection != "off" {
		return before
	}
	return nextExecution.ReplaceAllString(before, `"waitsFor":"collection off, which is disabled"`)
}

// mustStoreAlike decodes what is stored, and compares what it is encoded as with
// what it was: so nothing is lost that no job of the dump makes use of. Sealed
// secrets are left out: they are never stored twice alike.
func (u *upgraded) mustStoreAlike(t *testing.T, s *stored) {
	t.Helper()
	for _, p := range s.inOrder() {
		token := strings.Split(p.Subject, ".")
		var got []byte
		var err error
		switch {
		case p.Data == "" || strings.Contains(p.Data, `"v1.k1.`):
			continue
		case token[1] == "timer" || token[1] == "fire":
			var b scheduler.Baton
			b, err = scheduler.DecodeBaton([]byte(p.Data))
			got = b.Encode()
		case token[1] == "history":
			u.mustReadAlike(t, p.Data)
			continue
		case token[1] == "carillon-jobs":
			var j *scheduler.Job
			k := scheduler.Key{Collection: token[2], Job: token[3]}
			if j, err = scheduler.DecodeJob(k, p.Seq, []byte(p.Data), u.reader, u.vault); err == nil {
				got, err = j.Encode(u.vault)
				form, rest, _ := strings.Cut(string(got), ",") // which that version did not write
				if !strings.HasPrefix(form, `{"form":"1`) {
					t.Errorf("%s is stored without a form: %s", p.Subject, got)
				}
				got = []byte("{" + rest)
			}
		case token[1] == "carillon-collections":
			var c *scheduler.Collection
			if c, err = scheduler.DecodeCollection(token[2], p.Seq, []byte(p.Data)); err == nil {
				got, err = c.Encode()
			}
		default:
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", p.Subject, err)
		} else if !sameJSON(t, string(got), p.Data) {
			t.Errorf("%s is stored as\n%s\nwant\n%s", p.Subject, got, p.Data)
		}
	}
}

// mustReadAlike reads a record of the first version, stores it in the form of
// today, and reads that.
func (u *upgraded) mustReadAlike(t *testing.T, data string) {
	t.Helper()
	first, err := scheduler.DecodeRecord([]byte(data))
	if err != nil {
		t.Errorf("%s: %v", data, err)
		return
	}
	stored, err := first.Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := scheduler.DecodeRecord(stored)
	if err != nil || !reflect.DeepEqual(first, again) {
		t.Errorf("%s\nis read as %+v, and again as %+v, %v", data, first, again, err)
	}
}

// sameJSON reports whether two texts have the same members, in any order.
func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var values [2]any
	for i, text := range []string{a, b} {
		if err := json.Unmarshal([]byte(text), &values[i]); err != nil {
			t.Fatal(err)
		}
	}
	return reflect.DeepEqual(values[0], values[1])
}

// keyOf reads collection/job.
func keyOf(name string) scheduler.Key {
	c, j, _ := strings.Cut(name, "/")
	return scheduler.Key{Collection: c, Job: j}
}

// TestUpgrade starts a scheduler on what the first version had stored, in every
// state that a job can be in, and shows that each goes on as if nothing had been.
func TestUpgrade(t *testing.T) {
	s := readStored(t, "testdata/stored-v1.json")
	freshTimers()
	bubble.Test(t, func(t *testing.T) {
		u := upgrade(t, s)
		u.mustBeSound(t)
		u.mustShow(t, s)
		u.mustStoreAlike(t, s)
		u.mustKeep(t)
		u.startWorker(func(c *worker.Config) { c.Actions = u.reader })
		u.ingest(t)
		time.Sleep(time.Until(s.Taken.Add(8 * time.Minute)))
		if _, _, err := u.service.PutCollection(t.Context(), "off", []byte(`{"properties": {"state": "enabled"}}`)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Until(s.Taken.Add(52*time.Minute + 30*time.Second)))
		views := map[string]storedView{}
		for _, v := range s.Views {
			views[v.name(t)] = v
		}
		for _, want := range gains {
			got := u.gained(t, want.job, views[want.job])
			if want.first == inTurn {
				got.first = inTurn
			}
			if got != want {
				t.Errorf("got %+v\nwant %+v", got, want)
			}
			delete(views, want.job)
		}
		for name := range views {
			t.Errorf("%s: nothing is said of it", name)
		}
		u.mustHaveCalled(t)
		u.mustHavePaced(t, s.Taken.Add(3*time.Minute+3*time.Second))
		u.mustHaveTaken(t)
		time.Sleep(time.Until(s.Taken.Add(109 * time.Minute)))
		for _, name := range []string{"faulted", "sealedfinal", "completed", "sickopener"} { // two hours were up
			if _, err := u.service.Get(t.Context(), key(name)); !errors.Is(err, scheduler.ErrNotFound) {
				t.Errorf("%s is kept: %v", name, err)
			}
		}
		if got, want := u.outcomes("gap"), "skipped(dst 1) completed"; got != want {
			t.Errorf("history %q, want %q", got, want)
		}
		u.mustBeSound(t)
	})
}

// mustBeSound has the audit find nothing.
func (u *upgraded) mustBeSound(t *testing.T) {
	t.Helper()
	rep, err := u.service.Audit(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	if len(rep.Findings) > 0 || len(rep.Undecryptable) > 0 {
		t.Errorf("the audit found %+v, undecryptable %+v", rep.Findings, rep.Undecryptable)
	}
}

// mustKeep checks what there is beside jobs: settings, collections and shared
// secrets.
func (u *upgraded) mustKeep(t *testing.T) {
	t.Helper()
	if n := u.store.Lanes(); n != 1 {
		t.Errorf("%d lanes", n)
	}
	team, err := u.service.Collection(t.Context(), "team")
	if err != nil {
		t.Fatal(err)
	}
	_, top := team.Settings()
	wide, exact := team.Rule("any.example:80"), team.Rule("host.example:8080")
	if team.MaxJobCount != 6 || team.MinRetryInterval != 5*time.Minute || team.MaxRecurrence.Interval != 5 {
		t.Errorf("team: %+v", team)
	}
	if wide == nil || wide.Concurrency != 4 || exact == nil || exact.Rate != 9 {
		t.Errorf("targets of team: %+v, %+v", wide, exact)
	}
	if got := string(top.JSON()); got != `{"location":"West Europe","tags":{"owner":"ops"}}` {
		t.Errorf("team is at %s", got)
	}
	off, err := u.service.Collection(t.Context(), "off")
	if err != nil || off.State != scheduler.Disabled {
		t.Errorf("off: %+v, %v", off, err)
	}
	all, err := u.service.Secrets(t.Context())
	if err != nil || len(all) != 1 || all[0].Name != "front" || all[0].Description != "of the front door" {
		t.Errorf("secrets %+v, %v", all, err)
	}
}

// ingest takes in the published specs until the test ends.
func (u *upgraded) ingest(t *testing.T) {
	t.Helper()
	specs := natsapi.NewIngest(natsapi.IngestConfig{Service: u.service, Source: u.store})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- specs.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// mustHaveCalled checks what targets were told.
func (u *upgraded) mustHaveCalled(t *testing.T) {
	t.Helper()
	at := map[string]string{} // by idempotency key
	for _, c := range u.sink.seen() {
		at[c.key] = strings.TrimSpace(c.url)
	}
	for k, want := range map[string]string{
		"default/retrying@2000-04-02T06:22:00Z":          "http://bad.example/", // under the definition it began with
		"default/retrying@2000-04-02T07:22:00Z":          "http://bad.example/edited",
		"default/halfway@2000-04-02T06:33:00Z":           "", // recorded
		"default/halfway@2000-04-02T07:33:00Z":           "http://ok.example/",
		"default/erroraction@2000-04-02T06:34:00Z":       "",
		"default/erroraction@2000-04-02T06:34:00Z/error": "http://bad.example/alarm",
		"default/sealed@2000-04-02T06:55:00Z":            "n pl4nted-s3cret 0ther",
		"default/shared@2000-04-02T06:57:00Z":            "m pl4nted-s3cret",
		"default/fromspec@2000-04-02T06:55:00Z":          "http://ok.example/",
	} {
		if at[k] != want {
			t.Errorf("%s: called %q, want %q", k, at[k], want)
		}
	}
	const told = "2 tries, 500: Http Action - Response from host 'bad.example'"
	if got := u.bodies.of("http://bad.example/alarm"); !strings.HasPrefix(got, told) {
		t.Errorf("the errorAction was told %q, want %q", got, told)
	}
}

// mustHavePaced checks that a rate of one attempt in half an hour is kept, from
// the instant on until which the first was put off.
func (u *upgraded) mustHavePaced(t *testing.T, from time.Time) {
	t.Helper()
	var at []time.Time
	for _, c := range u.sink.seen() {
		if c.host == "limited.example" {
			at = append(at, c.at)
		}
	}
	if len(at) != 2 {
		t.Fatalf("called at %s, want two calls", at)
	}
	late, apart := at[0].Sub(from).Abs(), at[1].Sub(at[0])
	if late > 2*time.Second || apart < 30*time.Minute || apart > 31*time.Minute {
		t.Errorf("called at %s", at)
	}
}

// mustHaveTaken checks what became of the specs: the marker of the deleted job
// keeps an older spec from bringing it back.
func (u *upgraded) mustHaveTaken(t *testing.T) {
	t.Helper()
	if v := u.get("fromspec"); v.Job.Def.Description != "patched" || v.Job.State != scheduler.Completed {
		t.Errorf("fromspec: %+v", v.Job)
	}
	if _, err := u.service.Get(t.Context(), key("deleted")); !errors.Is(err, scheduler.ErrNotFound) {
		t.Errorf("deleted: %v", err)
	}
	js, err := jetstream.New(u.nc)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]uint64{"CARILLON_SPECS": 0, "CARILLON_SPEC_RESULTS": 6} {
		st, err := js.Stream(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if n := st.CachedInfo().State.Msgs; n != want {
			t.Errorf("%s has %d messages, want %d", name, n, want)
		}
	}
}
