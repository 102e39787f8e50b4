package natsapi_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/natsapi"
	"github.com/carillon-sched/carillon/scheduler/rest"
)

// writers is how many write at once.
const writers = 100

// crowd writes through two replicas: over REST through either, and over NATS through whichever the server chooses.
type crowd struct {
	*harness

	t    *testing.T
	webs []string
}

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	w := newHarness(t)
	_, other := w.open()
	w.api()
	w.api(func(cfg *natsapi.APIConfig) { cfg.Service = other })
	c := &crowd{harness: w, t: t}
	for _, s := range []rest.Config{{Service: w.service}, {Service: other}} {
		web := httptest.NewServer(rest.New(s))
		t.Cleanup(web.Close)
		c.webs = append(c.webs, web.URL)
	}
	return c
}

// ask has the nth writer do something about a job, or a collection: every third one over NATS. What the
// replicas have no time for is asked for again.
func (c *crowd) ask(n int, verb, name, body string) (status int, text string) {
	for {
		if n%3 == 0 {
			status, text = c.askOverNATS(verb, name, body)
		} else {
			status, text = c.askOverREST(c.webs[n%2], verb, name, body)
		}
		if status != http.StatusServiceUnavailable && !strings.Contains(text, "changed by others") {
			return status, text
		}
	}
}

func (c *crowd) askOverNATS(verb, name, body string) (status int, text string) {
	subject := "carillon.api." + verb + "." + name
	ans, err := c.nc.Request(subject, []byte(body), patience)
	if err != nil {
		c.t.Errorf("%s: %v", subject, err)
		return 0, ""
	}
	status, err = strconv.Atoi(ans.Header.Get("Carillon-Status"))
	if err != nil {
		c.t.Error(err)
	}
	return status, string(ans.Data)
}

func (c *crowd) askOverREST(web, verb, name, body string) (status int, text string) {
	path := "/jobCollections/" + strings.Replace(name, ".", "/jobs/", 1)
	req, err := http.NewRequestWithContext(c.ctx, strings.ToUpper(verb), web+path, strings.NewReader(body))
	if err != nil {
		c.t.Error(err)
		return 0, ""
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Error(err)
		return 0, ""
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Error(err)
	}
	return res.StatusCode, string(data)
}

// all has each writer do something, at once.
func (c *crowd) all(do func(n int)) {
	var group sync.WaitGroup
	for n := range writers {
		group.Go(func() { do(n) })
	}
	group.Wait()
}

// mustHaveOneBaton looks for jobs that have none, or more than one.
func (c *crowd) mustHaveOneBaton(jobs int) {
	c.t.Helper()
	batons := map[scheduler.Key]int{}
	for lane := range c.store.Lanes() {
		must.Do(c.t, c.store.EachBaton(c.ctx, lane, func(slot scheduler.BatonKey, _ bool) error {
			batons[slot.Key]++
			return nil
		}))
	}
	for k, n := range batons {
		if n != 1 {
			c.t.Errorf("%s has %d batons", k, n)
		}
	}
	report, err := c.service.Audit(c.ctx, false)
	if err != nil || len(report.Findings) > 0 || report.Jobs != jobs || len(batons) != jobs {
		c.t.Errorf("%d jobs have batons, want %d: %v, %+v", len(batons), jobs, err, report)
	}
}

// TestCrowdOnOneQuota: 200 writers over both APIs and two replicas put jobs into a collection that takes 50, and every fourth one deletes
// what it has put. There are never more than 50, but for a few that both replicas made at the same moment; what was put and not deleted
// is there, and each has one baton; and then there is room for as many as are missing.
func TestCrowdOnOneQuota(t *testing.T) {
	c := newCrowd(t)
	const quota, few = 50, 10
	if status, text := c.ask(1, "put", "full", fmt.Sprintf(`{"properties": {"quota": {"maxJobCount": %d}}}`, quota)); status != 201 {
		t.Fatal(status, text)
	}
	var there atomic.Int64
	fill := func(round int, deletes bool) {
		c.all(func(n int) {
			name := fmt.Sprintf("full.r%dw%d", round, n)
			status, text := c.ask(n, "put", name, later)
			switch {
			case status == http.StatusConflict && strings.Contains(text, "quota"):
				return
			case status != http.StatusCreated:
				t.Errorf("%s: %d %s", name, status, text)
				return
			case there.Add(1) > quota+few:
				t.Errorf("%s is one too many", name)
			}
			if deletes && n%4 == 0 {
				there.Add(-1) // before there is room for another
				if status, text := c.ask(n+1, "delete", name, ""); status != 200 {
					t.Errorf("%s: %d %s", name, status, text)
				}
			}
		})
		c.mustHaveOneBaton(int(there.Load()))
	}
	fill(1, true)
	t.Logf("%d jobs after deletes in between", there.Load())
	fill(2, false)
	if there.Load() < quota {
		t.Errorf("%d jobs are in a collection that takes %d", there.Load(), quota)
	}
}
