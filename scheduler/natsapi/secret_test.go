package natsapi_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/natsapi"
)

// secret is planted wherever a secret may stand.
const secret = "pl4nted-s3cret"

// withPassword is a job whose action has a password.
const withPassword = `{"startTime": "2099-01-01T00:00:00Z", "action": {"type": "Http", "request": {"uri": "http://target.example/hook",
	"method": "POST", "authentication": {"type": "Basic", "username": "me", "password": "` + secret + `"}}}}`

// TestSpecsWithSecretsAreErased shows that nothing is left on disk of the specs
// that brought secrets, nor of those that may have: neither as text nor among
// what waits for an acknowledgement.
func TestSpecsWithSecretsAreErased(t *testing.T) {
	w := newWorldIn(t, jetstream.FileStorage)
	plant := func(i int) string { return strings.ReplaceAll(withPassword, secret, fmt.Sprintf("%s-%d-", secret, i)) }
	specs := []struct{ subject, body, verdict string }{
		{"put.default.first", plant(0), "accepted"},
		{"put.default.again", later, "accepted"},
		{"put.default.first", plant(2), "accepted"},
		{"patch.default.first", `{"action": {"request": {"authentication": {"password": "` + secret + `-3-"}}}}`, "accepted"},
		{"put.default.wrong", strings.Replace(plant(4), "uri", "url", 1), "rejected"},
		{"put.default.broken", plant(5) + "}", "rejected"},
		{"put.nowhere.job", plant(6), "rejected"},
		{"delete.default.again", plant(7), "accepted"},
		{"frobnicate.default.first", plant(8), "rejected"},
		{"put.default.large", plant(9) + strings.Repeat(" ", 17<<10), "rejected"},
		{"put.default.last", later, "accepted"},
	}
	for _, s := range specs {
		w.publish(s.subject, s.body)
	}
	w.publish("put.default.held", later) // by another process: what lies in the stream with it is not just cut off
	hold(t, w, len(specs)+1)
	w.await("the specs on disk", func() bool { return len(w.found("-9-")) > 0 }) // the search finds what is there
	next := w.results()
	w.background(natsapi.AtLeisure(w.newIngest(func(c *natsapi.IngestConfig) { c.Concurrency = 1 })).Run)
	for i, s := range specs {
		if e := next(); e.Verdict != s.verdict || strings.Contains(e.Error.String(), secret) {
			t.Errorf("%d: %s, %s", i, e.Verdict, e.Error)
		}
	}
	w.await("the end of the specs", func() bool {
		c, err := w.js.Consumer(w.ctx, "CARILLON_SPECS", "workers")
		if err != nil || c.CachedInfo().NumAckPending != 1 || c.CachedInfo().NumPending != 0 {
			return false
		}
		st, err := w.js.Stream(w.ctx, "CARILLON_SPECS")
		return err == nil && st.CachedInfo().State.Msgs == 1 // removed a little after its acknowledgement
	})
	if files := w.found(""); len(files) > 0 {
		t.Errorf("secrets are left in %s", files)
	}
}

// hold takes all specs as another process does, and gives all but the last back.
func hold(t *testing.T, w *harness, n int) {
	t.Helper()
	c, err := w.js.Consumer(w.ctx, "CARILLON_SPECS", "workers")
	if err != nil {
		t.Fatal(err)
	}
	batch := must.Get(c.Fetch(n, jetstream.FetchMaxWait(patience)))(t)
	var all []jetstream.Msg // before any is given back, which would come again in its turn
	for m := range batch.Messages() {
		all = append(all, m)
	}
	if err := batch.Error(); err != nil || len(all) != n {
		t.Fatalf("%d of %d came, %v", len(all), n, err)
	}
	for _, m := range all[:n-1] {
		err = errors.Join(err, m.Nak())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// found returns the files that hold a planted secret with that suffix.
func (w *harness) found(suffix string) []string {
	w.tb.Helper()
	var files []string
	must.Do(w.tb, filepath.WalkDir(w.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil //nolint:nilerr // the server replaces files all the while
		}
		if data, err := os.ReadFile(path); err == nil && bytes.Contains(data, []byte(secret+suffix)) {
			files = append(files, path)
		}
		return nil
	}))
	return files
}
