package node_test

import (
	"context"
	"html"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/cmd/carillon/echo"
	"github.com/carillon-sched/carillon/cmd/carillon/node"
	"github.com/carillon-sched/carillon/cmd/carillon/node/nodetest"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/stats"
)

// beside starts another scheduler on the server of one, and returns its URL and what stops it.
func beside(t *testing.T, s *nodetest.Scheduler) (url string, stop func()) {
	t.Helper()
	nc, err := nats.Connect(s.NATS)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { node.CloseConn(nc) })
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n, err := node.Open(t.Context(), node.Config{
		Conn: nc, Listener: l, Version: "9.9.9", Handlers: map[string]http.Handler{"/echo": echo.Handler()},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	begun, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- n.Run(ctx, func() error { close(begun); return nil }) }()
	<-begun
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return "http://" + l.Addr().String(), stop
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
	other, stop := beside(t, one)
	const jobs = 40
	at := time.Now().Add(time.Second).Format(time.RFC3339Nano)
	for i := range jobs {
		k := scheduler.Key{Collection: "default", Job: "job-" + string(rune('a'+i%26)) + string(rune('a'+i/26))}
		body := `{"action": {"type": "http", "request": {"method": "GET", "uri": "` + one.API + `/echo"}}, "startTime": "` + at + `"}`
		if _, _, err := one.Node.Service().Put(t.Context(), control.Edit{Key: k, Body: []byte(body)}); err != nil {
			t.Fatal(err)
		}
	}
	const all, failed = "% of 41 runs", "403 Forbidden"
	k := scheduler.Key{Collection: "default", Job: "broken"}
	if _, _, err := one.Node.Service().Put(t.Context(), control.Edit{Key: k, Body: []byte(
		`{"action": {"type": "http", "request": {"method": "GET", "uri": "` + one.API + `/nowhere"}, "retryPolicy": {"retryType": "none"}}}`,
	)}); err != nil {
		t.Fatal(err)
	}
	awaitPage(t, one.API, all, "9.9.9", "They do not all have the same version", "Last audit</h2><div id=\"audit\"> <p><span class=\"state ")
	awaitPage(t, other, all, "9.9.9", "They do not all have the same version")
	awaitPage(t, one.API, failed)
	awaitPage(t, other, failed)
	run := regexp.MustCompile(`href="(/console/jobs/default/broken/runs/[^"]+)"`).FindStringSubmatch(page(t, one.API))
	if run == nil {
		t.Fatal("the failed run has no link")
	}
	if status, _ := get(t, one.API+html.UnescapeString(run[1])); status != http.StatusOK {
		t.Errorf("%s: %d", run[1], status)
	}
	stop()
	awaitPage(t, one.API, all, "!9.9.9", failed)
	third, _ := beside(t, one)
	awaitPage(t, third, all, failed)
}

// TestPulseIsCheap looks at what a scheduler at rest stores of itself: one small message, in the place of the one before.
func TestPulseIsCheap(t *testing.T) {
	t.Parallel()
	s := nodetest.Start(t, node.Config{}, nil)
	js, err := jetstream.New(s.Conn)
	if err != nil {
		t.Fatal(err)
	}
	sub, err := s.Conn.SubscribeSync("carillon.pulse.>")
	if err != nil {
		t.Fatal(err)
	}
	m, err := sub.NextMsg(time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := stats.ReadReport(m.Data); err != nil || len(m.Data) > 1024 || time.Since(r.At) > time.Minute {
		t.Errorf("%d bytes, %v: %s", len(m.Data), err, m.Data)
	}
	st, err := js.Stream(t.Context(), "CARILLON_PULSE")
	if err != nil {
		t.Fatal(err)
	}
	if n := st.CachedInfo().State.Msgs; n != 1 {
		t.Errorf("%d messages are kept of a scheduler that has done nothing", n)
	}
}
