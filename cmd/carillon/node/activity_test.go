package node_test

import (
	"html"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/cmd/carillon/node"
	"github.com/carillon-sched/carillon/cmd/carillon/node/nodetest"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/stats"
)

// beside starts another scheduler on the server of one.
func beside(t *testing.T, s *nodetest.Scheduler) *nodetest.Scheduler {
	t.Helper()
	nc := must.Get(nats.Connect(s.NATS))(t)
	t.Cleanup(func() { node.CloseConn(nc) })
	return nodetest.Run(t, node.Config{Conn: nc, Version: "9.9.9"}, nil)
}

// page returns the overview of a scheduler, without its space.
func page(t *testing.T, url string) string {
	t.Helper()
	status, body := get(t, url+"/")
	text, err := io.ReadAll(body)
	if err != nil || status != http.StatusOK {
		t.Fatalf("%d %v %s", status, err, text)
	}
	return strings.Join(strings.Fields(string(text)), " ")
}

// awaitPage waits until an overview has all of some texts, and not those that begin with an exclamation mark.
func awaitPage(t *testing.T, url string, texts ...string) {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); ; <-tick.C {
		missing, shown := "", page(t, url)
		for _, text := range texts {
			if not, negated := strings.CutPrefix(text, "!"); strings.Contains(shown, not) == negated {
				missing = text
			}
		}
		if missing == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %q:\n%s", missing, shown)
		}
	}
}

// TestOverviewOfTwo shows that each of two schedulers shows what both have done, together, that one which stops is gone,
// with what it did still there, and that one which starts shows it, too.
func TestOverviewOfTwo(t *testing.T) {
	t.Parallel()
	one := nodetest.Start(t, node.Config{}, nil)
	other := beside(t, one)
	const jobs = 40
	at := time.Now().Add(time.Second).Format(time.RFC3339Nano)
	for i := range jobs {
		one.Put(t, "job-"+string(rune('a'+i%26))+string(rune('a'+i/26)),
			`{"action": {"type": "http", "request": {"method": "GET", "uri": "`+one.API+`/echo"}}, "startTime": "`+at+`"}`)
	}
	const all, failed = "% of 41 runs", "403 Forbidden"
	one.Put(t, "broken", `{"action": {"type": "http", "request": {"method": "GET", "uri": "`+one.API+`/nowhere"}, "retryPolicy": {"retryType": "none"}}}`)
	awaitPage(t, one.API, all, "9.9.9", "The schedulers have different versions", "Last consistency check</h2><div id=\"audit\"> <p><span class=\"state ")
	awaitPage(t, other.API, all, "9.9.9", "The schedulers have different versions")
	awaitPage(t, one.API, failed)
	awaitPage(t, other.API, failed)
	run := regexp.MustCompile(`href="(/console/jobs/default/broken/runs/[^"]+)"`).FindStringSubmatch(page(t, one.API))
	if run == nil {
		t.Fatal("the failed run has no link")
	}
	if status, _ := get(t, one.API+html.UnescapeString(run[1])); status != http.StatusOK {
		t.Errorf("%s: %d", run[1], status)
	}
	_ = other.Stop()
	awaitPage(t, one.API, all, "!9.9.9", failed)
	awaitPage(t, beside(t, one).API, all, failed)
}

// TestPulseIsCheap looks at what a scheduler at rest stores of itself: one small message, in the place of the one before.
func TestPulseIsCheap(t *testing.T) {
	t.Parallel()
	s := nodetest.Start(t, node.Config{}, nil)
	js := must.Get(jetstream.New(s.Conn))(t)
	sub := must.Get(s.Conn.SubscribeSync("carillon.pulse.>"))(t)
	m := must.Get(sub.NextMsg(time.Minute))(t)
	if r, err := stats.ReadReport(m.Data); err != nil || len(m.Data) > 1024 || time.Since(r.At) > time.Minute {
		t.Errorf("%d bytes, %v: %s", len(m.Data), err, m.Data)
	}
	st := must.Get(js.Stream(t.Context(), "CARILLON_PULSE"))(t)
	if n := st.CachedInfo().State.Msgs; n != 1 {
		t.Errorf("%d messages are kept of a scheduler that has done nothing", n)
	}
}
