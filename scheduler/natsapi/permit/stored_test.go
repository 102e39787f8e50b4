package permit_test

import (
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/natsapi/permit"
	"github.com/carillon-sched/carillon/store"
)

// natsPage is the page that says what the scheduler keeps where.
const natsPage = "../../../cmd/carillon/docs/reference/nats.md"

// stored is a row of its table: a bucket or a stream, and the first of its subjects.
var stored = regexp.MustCompile("(?m)^\\| (bucket|stream) \\| `([^`]+)` +\\|[^|]*\\| `([^`]+)`")

// lane is the number at the end of a lane's stream, and in its subjects.
var lane = regexp.MustCompile(`([_.])\d+`)

// TestWhatIsStoredIsPermittedAndDocumented shows that the scheduler of the example may write to every bucket and stream
// that the store makes, and hear what they tell, and that the page of NATS names each.
func TestWhatIsStoredIsPermittedAndDocumented(t *testing.T) {
	w := newHarness(t, true)
	js := must.Get(jetstream.New(w.connect("carillon")))(t)
	may := must.Get(permit.For(exampleUsers["carillon"]))(t)
	allowed := func(patterns []string, subject string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool { return p == subject || strings.HasPrefix(subject, strings.TrimSuffix(p, ">")) })
	}
	var made []string
	streams := js.ListStreams(t.Context())
	for info := range streams.Info() {
		c := info.Config
		kind, name := "stream", lane.ReplaceAllString(c.Name, "$1<lane>")
		if bucket, ok := strings.CutPrefix(c.Name, "KV_"); ok {
			kind, name = "bucket", bucket
		}
		made = append(made, kind+" "+name+" "+lane.ReplaceAllString(c.Subjects[0], "$1<lane>"))
		for _, subject := range c.Subjects {
			if !allowed(may.Publish, subject) {
				t.Errorf("%s: the scheduler may not publish to %s", c.Name, subject)
			}
		}
		if c.RePublish != nil && !allowed(may.Subscribe, c.RePublish.Destination) {
			t.Errorf("%s: the scheduler may not hear %s", c.Name, c.RePublish.Destination)
		}
	}
	if streams.Err() != nil {
		t.Fatal(streams.Err())
	}
	page := must.Get(os.ReadFile(natsPage))(t)
	var told []string
	for _, row := range stored.FindAllStringSubmatch(string(page), -1) {
		told = append(told, strings.Join(row[1:], " "))
	}
	slices.Sort(made)
	slices.Sort(told)
	if diff := cmp.Diff(made, told); diff != "" {
		t.Errorf("what is there and what %s tells: %s", natsPage, diff)
	}
}

// TestSnapshotIsPermitted stores a large snapshot with the permissions of the example, and reads it.
func TestSnapshotIsPermitted(t *testing.T) {
	w := newHarness(t, true)
	nc := w.connect("carillon")
	st := must.Get(store.Open(t.Context(), nc, store.Config{}))(t)
	const size = 8 << 20
	must.Do(t, st.SaveSnapshot(t.Context(), 0, func(to io.Writer) error {
		_, err := to.Write(make([]byte, size))
		return err
	}))
	must.Do(t, st.LoadSnapshot(t.Context(), func(r io.Reader) error {
		n, err := io.Copy(io.Discard, r)
		if n != size {
			t.Errorf("%d bytes", n)
		}
		return err
	}))
	if err := nc.LastError(); err != nil {
		t.Error(err)
	}
}

// TestServerKeepsNothingOfPublishers shows why the publisher of a spec is a claim: of the header that the server sets of who
// sends a message to an import that shares it, and of a forged one, nothing is in the stream.
func TestServerKeepsNothingOfPublishers(t *testing.T) {
	w := newHarness(t, true)
	scheduler := w.connect("carillon")
	js := must.Get(jetstream.New(scheduler))(t)
	heard := must.Get(scheduler.SubscribeSync("carillon.spec.delete.other.none"))(t)
	kept := must.Get(js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "KEPT", Subjects: []string{"carillon.kept"}}))(t)
	m := nats.NewMsg("carillon.spec.delete.other.none")
	m.Header.Set("Nats-Request-Info", `{"user":"admin"}`)
	must.Do(t, w.user("operator").PublishMsg(m))
	told := must.Get(heard.NextMsg(patience))(t)
	if info := told.Header.Get("Nats-Request-Info"); !strings.Contains(info, `"user":"operator"`) {
		t.Errorf("the server tells %s", info)
	}
	told.Subject, told.Reply = "carillon.kept", ""
	must.Get(js.PublishMsg(t.Context(), told))(t)
	stored := must.Get(kept.GetMsg(t.Context(), 1))(t)
	if info := stored.Header.Get("Nats-Request-Info"); info != "" {
		t.Errorf("the server keeps %s now: let specs carry it", info)
	}
}
