package node_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/cmd/carillon/node"
	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/logtest"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/embedded"
)

// The jobs of the damaged directories. They wait until tomorrow, so that none runs in a test.
const damagedJobs = 12

func damagedJob(i int) scheduler.Key {
	return scheduler.Key{Collection: "default", Job: fmt.Sprintf("job%02d", i)}
}

// site is a node on a data directory, as `carillon dev` runs it.
type site struct {
	*node.Node

	js    jetstream.JetStream
	close func()
}

// open starts a server and a node on a directory. It does not run.
func open(t *testing.T, dir string, key seal.Key) *site {
	t.Helper()
	log := &logtest.Log{}
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	s := must.Get(embedded.Start(t.Context(), embedded.Config{Dir: dir, Logger: logger}))(t)
	nc := must.Get(s.Connect())(t)
	shut := sync.OnceFunc(func() { node.CloseConn(nc); s.Close() })
	t.Cleanup(shut)
	n, err := node.Open(t.Context(), node.Config{
		Conn: nc, Keys: seal.NewKeyring(key), Logger: logger, Store: store.Config{Lanes: 0},
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	js := must.Get(jetstream.New(nc))(t)
	return &site{n, js, shut}
}

// makeDamagedSite fills a directory: jobs with history, a collection, a shared secret and a spec that nobody has taken in.
func makeDamagedSite(t *testing.T, key seal.Key) (dir string) {
	t.Helper()
	dir = t.TempDir()
	s := open(t, dir, key)
	ctx := t.Context()
	due := time.Now().Add(24 * time.Hour).UTC().Truncate(time.Second)
	for i := range damagedJobs {
		body := `{"startTime": "` + due.Format(time.RFC3339) + `", "recurrence": {"frequency": "Hour"}, "action": {"type": "natsMessage", "natsMessage": {"subject": "x"}}}`
		if _, _, err := s.Service().Put(ctx, control.Edit{Key: damagedJob(i), Body: []byte(body)}); err != nil {
			t.Fatal(err)
		}
		subject := "carillon.history.default." + damagedJob(i).Job + ".skipped"
		r := scheduler.Record{
			Job: damagedJob(i), Outcome: scheduler.OutcomeSkipped, Reason: scheduler.ReasonCatchUp, Count: 1, Ended: time.Now(),
			From: due, To: due, Nominal: due,
		}
		data := must.Get(r.Encode())(t)
		must.Get(s.js.Publish(ctx, subject, data))(t)
	}
	if _, _, err := s.Service().PutCollection(ctx, "ops", []byte(`{"properties": {"state": "disabled"}}`)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Service().PutSecret(ctx, "token", []byte(`{"value": "hunter2"}`)); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		must.Get(s.js.Publish(ctx, fmt.Sprintf("carillon.spec.put.default.spec%d", i), []byte(`{}`)))(t)
	}
	s.close()
	return dir
}

// A damage changes the files of one stream.
type damageKind struct {
	name   string
	loses  bool                           // messages
	change func(t *testing.T, dir string) // of the stream
}

func change(t *testing.T, path string, f func([]byte) []byte) {
	t.Helper()
	data := must.Get(os.ReadFile(path))(t)
	must.Do(t, os.WriteFile(path, f(slices.Clone(data)), 0o600))
}

func remove(t *testing.T, path string) {
	t.Helper()
	must.Do(t, os.RemoveAll(path))
}

func firstBlock(dir string) string { return filepath.Join(dir, "msgs", "1.blk") }
func indexOf(dir string) string    { return filepath.Join(dir, "msgs", "index.db") }

// flipFirst flips a byte in the body of the first record.
func flipFirst(t *testing.T, dir string) {
	change(t, firstBlock(dir), func(b []byte) []byte { b[90] ^= 1; return b })
}

var damageKinds = []damageKind{
	{"a byte flipped", true, flipFirst},
	{"a byte flipped, and no index", true, func(t *testing.T, dir string) { flipFirst(t, dir); remove(t, indexOf(dir)) }},
	{"cut off in a record", true, func(t *testing.T, dir string) {
		change(t, firstBlock(dir), func(b []byte) []byte { return b[:len(b)-20] })
	}},
	{"zeros at the end", true, func(t *testing.T, dir string) {
		change(t, firstBlock(dir), func(b []byte) []byte { clear(b[len(b)-50:]); return b })
	}},
	{"an empty block", true, func(t *testing.T, dir string) {
		change(t, firstBlock(dir), func([]byte) []byte { return nil })
	}},
	{"no block", true, func(t *testing.T, dir string) { remove(t, firstBlock(dir)) }},
	{"no block and no index", true, func(t *testing.T, dir string) { remove(t, firstBlock(dir)); remove(t, indexOf(dir)) }},
	{"no directory", true, remove},
	{"a byte flipped in the index", false, func(t *testing.T, dir string) {
		change(t, indexOf(dir), func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
	}},
	{"no index", false, func(t *testing.T, dir string) { remove(t, indexOf(dir)) }},
	{"settings flipped", false, func(t *testing.T, dir string) {
		change(t, filepath.Join(dir, "meta.inf"), func(b []byte) []byte { b[20] ^= 1; return b })
	}},
	{"no settings", false, func(t *testing.T, dir string) { remove(t, filepath.Join(dir, "meta.inf")) }},
}

// damageOnly are kinds of damage to files that only some streams have.
var damageOnly = map[string][]damageKind{
	"CARILLON_TIMERS_0": {
		{"when messages are due", false, func(t *testing.T, dir string) {
			change(t, filepath.Join(dir, "msgs", "sched.db"), func(b []byte) []byte { b[len(b)-8] ^= 0x40; return b })
		}},
		{"where the workers are", false, func(t *testing.T, dir string) {
			change(t, filepath.Join(dir, "obs", "workers", "o.dat"), func(b []byte) []byte { b[len(b)-1] ^= 0x40; return b })
		}},
	},
	"CARILLON_SPECS": {
		{"where the intake is", false, func(t *testing.T, dir string) {
			change(t, filepath.Join(dir, "obs", "workers", "o.dat"), func(b []byte) []byte { b[len(b)-1] ^= 0x40; return b })
		}},
	},
}

// siteState is what a node has after a start.
type siteState struct {
	jobs, armed, lost int
	records           int
	collection        bool
	secret            bool
	specs             int
}

func inspect(t *testing.T, s *site) (st siteState) {
	t.Helper()
	ctx := t.Context()
	rep := must.Get(s.Service().Audit(ctx, true))(t)
	st.lost = len(rep.Lost())
	rep = must.Get(s.Service().Audit(ctx, true))(t)
	for _, f := range rep.Findings {
		if !f.Lost {
			t.Errorf("the doctor still finds %s: %s", f.Name, f.Problem)
		}
	}
	st.jobs, st.armed = rep.Jobs, rep.Waiting
	for i := range damagedJobs {
		v, err := s.Service().Get(ctx, damagedJob(i))
		if err == nil && v.Status.Next.IsZero() {
			t.Errorf("%s has no next run", damagedJob(i))
		}
	}
	st.records = int(messages(t, s, "CARILLON_HISTORY"))
	st.specs = int(messages(t, s, "CARILLON_SPECS"))
	c, err := s.Service().Collection(ctx, "ops")
	st.collection = err == nil && c.State == scheduler.Disabled
	st.secret = messages(t, s, "KV_carillon-secrets") > 0
	return st
}

func messages(t *testing.T, s *site, stream string) uint64 {
	t.Helper()
	st := must.Get(s.js.Stream(t.Context(), stream))(t)
	info := must.Get(st.Info(t.Context()))(t)
	return info.State.Msgs
}

// TestDamages damages each stream in each way. The server keeps what it can read. Every job has a baton after the start, also
// those whose definition is lost, which the doctor names; the other streams are whole, and a second start finds the same.
func TestDamages(t *testing.T) {
	key := must.Get(seal.NewKey("k1"))(t)
	whole := makeDamagedSite(t, key)
	streams := filepath.Join("jetstream", "$G", "streams")
	sound := inspect(t, open(t, copySite(t, whole), key))
	if sound != (siteState{
		jobs: damagedJobs, armed: damagedJobs, records: damagedJobs, collection: true, secret: true, specs: 3,
	}) {
		t.Fatalf("without damage: %+v", sound)
	}
	for _, stream := range []string{
		"KV_carillon-jobs", "CARILLON_TIMERS_0", "CARILLON_HISTORY", "CARILLON_SPECS", "KV_carillon-collections", "KV_carillon-secrets",
	} {
		for i, kind := range slices.Concat(damageKinds, damageOnly[stream]) {
			t.Run(stream+"/"+kind.name, func(t *testing.T) {
				if testing.Short() && i%4 > 0 {
					t.Skip("one damage of four: the others without -short")
				}
				t.Parallel() // the server does not answer a request for a damaged message, which takes seconds
				dir := copySite(t, whole)
				kind.change(t, filepath.Join(dir, streams, stream))
				s := open(t, dir, key)
				got := inspect(t, s)
				s.close()
				want := sound
				if kind.loses {
					switch stream {
					case "KV_carillon-jobs":
						want.jobs, want.lost = got.jobs, sound.jobs-got.jobs
					case "CARILLON_HISTORY":
						want.records = min(got.records, sound.records)
					case "CARILLON_SPECS":
						want.specs = min(got.specs, sound.specs)
					case "KV_carillon-collections":
						want.collection = got.collection
					case "KV_carillon-secrets":
						want.secret = got.secret
					}
				}
				if got != want {
					t.Errorf("got %+v, want %+v", got, want)
				}
				if !kind.loses && bubble.RaceDetector { // the second start is an ordinary one
					return
				}
				if again := inspect(t, open(t, dir, key)); again != got {
					t.Errorf("the second start: %+v, want %+v", again, got)
				}
			})
		}
	}
}

func copySite(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	must.Do(t, os.CopyFS(to, os.DirFS(from)))
	return to
}
