package hostile

import (
	"context"
	"flag"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/nats-io/nats.go"
)

var floodTime = flag.Duration("flood", time.Second, "how long each flood lasts; that of costly previews, whose times are compared, three times as long")

// flooders is how many requests of one caller are under way at once.
const flooders = 64

// flood is much of one thing, from one caller. send makes one request.
type flood struct {
	name string
	send func(ctx context.Context)
}

// TestFloods has one caller ask for much, of one thing after the other, and another one ask for little meanwhile. The
// second waits for less than the first, whose requests wait for each other, and a job of every second misses none.
func TestFloods(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves it out: go test ./integration/suite/hostile -run Floods -v")
	}
	p := start(t)
	other := callerAt(t, "127.0.0.2")
	mustPut(t, p, "tick", `"recurrence": {"rrule": "DTSTART:20260101T000000Z RRULE:FREQ=SECONDLY"}, "catchUp": {"policy": "all"}`)
	const later = `"startTime": "2099-01-01T00:00:00Z"`
	for _, name := range []string{"a", "b", "c", "d"} {
		mustPut(t, p, name, later)
	}
	began := time.Now()
	for _, f := range floods(t, p) {
		under, beside := f.run(t, func() {
			other.must(t, http.MethodPut, p.HTTP+"/jobCollections/default/jobs/mine", job(p, later), "200", "201")
			other.must(t, http.MethodGet, p.HTTP+"/jobCollections/default/jobs?$top=5", "", "200")
			other.must(t, http.MethodPost, p.HTTP+"/preview", `{"recurrence": {"cron": "0 9 * * MON"}}`, "200")
		})
		t.Logf("%-20s %6d requests, %6.1f ms in the middle; beside it %4d, %6.1f ms in the middle, %6.1f at most", f.name,
			len(under), middle(under), len(beside), middle(beside), milliseconds(slices.Max(beside)))
		if f.name == costlyPreviews && middle(beside) > middle(under) {
			t.Errorf("%s: who asks for little waits %.1f ms, who asks for much %.1f", f.name, middle(beside), middle(under))
		}
	}
	mustTick(t, p, began, time.Now())
	p.stop(t)
}

// costlyPreviews are refused after as much work as one may ask for.
const costlyPreviews = "costly previews"

func floods(t *testing.T, p process) []flood {
	t.Helper()
	nc := must.Get(nats.Connect(p.NATS))(t)
	t.Cleanup(nc.Close)
	one := callerAt(t, "127.0.0.1")
	http := p.HTTP
	costly := `{"recurrence": {"rrule": "DTSTART:20310101T000000Z` +
		strings.Repeat(" RRULE:FREQ=MINUTELY;INTERVAL=438;BYMONTHDAY=-3,-5,13,14,15,16,17,18,19;COUNT=99000000", 20) + `"}}`
	return []flood{
		{costlyPreviews, func(ctx context.Context) { one.ask(ctx, "POST", http+"/preview", costly) }},
		{"lists", func(ctx context.Context) {
			one.ask(ctx, "GET", http+"/jobCollections/default/jobs?$filter=state+eq+faulted", "")
		}},
		{"histories", func(ctx context.Context) { one.ask(ctx, "GET", http+"/history?$filter=status+eq+Faulted", "") }},
		{"rejected specs", func(context.Context) {
			_ = nc.Publish("carillon.spec.put.default.none", []byte(`{"action": {"type": "Telegraph"}}`))
			_ = nc.Flush()
		}},
		{"live tails", func(ctx context.Context) {
			ctx, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
			defer cancel()
			one.ask(ctx, "GET", http+"/history?follow=true", "")
		}},
	}
}

// run floods while beside is done again and again, and returns how long each took.
func (f *flood) run(t *testing.T, beside func()) (under, others []time.Duration) {
	t.Helper()
	length := *floodTime
	if f.name == costlyPreviews {
		length *= 3
	}
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	var mu sync.Mutex
	var flooding sync.WaitGroup
	for range flooders {
		flooding.Go(func() {
			for ctx.Err() == nil {
				began := time.Now()
				f.send(ctx)
				took := time.Since(began)
				mu.Lock()
				under = append(under, took)
				mu.Unlock()
			}
		})
	}
	for ctx.Err() == nil || len(others) == 0 {
		began := time.Now()
		beside()
		others = append(others, time.Since(began)/3)
	}
	flooding.Wait()
	return under, others
}

func middle(all []time.Duration) float64 {
	slices.Sort(all)
	return milliseconds(all[len(all)/2])
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

// caller is who asks from an address.
type caller struct{ client *http.Client }

// callerAt returns a caller at an address of the loopback interface, all of which are this machine's on Linux.
func callerAt(t *testing.T, address string) *caller {
	t.Helper()
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	transport := &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: flooders}
	t.Cleanup(transport.CloseIdleConnections)
	if l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address+":0"); err != nil {
		t.Skipf("this machine has not the address %s: give it to its loopback interface to enable this test", address)
	} else {
		_ = l.Close()
	}
	return &caller{&http.Client{Transport: transport, Timeout: answerTime}}
}

// ask makes a request and reads the answer; the status is "" when there is none.
func (c *caller) ask(ctx context.Context, method, url, body string) (class, text string) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return "", err.Error()
	}
	res, err := c.client.Do(req)
	if err != nil {
		return "", err.Error()
	}
	defer res.Body.Close()
	data, _ := io.ReadAll(res.Body)
	class, _, _ = strings.Cut(res.Status, " ")
	return class, string(data)
}

// must is ask for who has to be served.
func (c *caller) must(t *testing.T, method, url, body string, want ...string) {
	t.Helper()
	if class, text := c.ask(t.Context(), method, url, body); !slices.Contains(want, class) {
		t.Errorf("%s %s beside a flood: %s %s", method, url, class, text)
	}
}

// job is a document with an action of the process's own.
func job(p process, members string) string {
	return `{"action": {"type": "Http", "request": {"method": "GET", "uri": "` + p.HTTP + `/echo"}}, ` + members + `}`
}

func mustPut(t *testing.T, p process, name, members string) {
	t.Helper()
	class, blame := call(http.MethodPut, p.HTTP+"/jobCollections/default/jobs/"+name, []byte(job(p, members)))
	if class != "201" {
		t.Fatalf("job %s: %s %s", name, class, blame)
	}
}
