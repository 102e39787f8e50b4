package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/control"
)

// registrars is how many jobs are put at once.
const registrars = 32

// api is the REST API of a process.
type api struct {
	url    string
	client *http.Client
}

func newAPI(t *testing.T, url string) *api {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: registrars}
	t.Cleanup(transport.CloseIdleConnections)
	return &api{url, &http.Client{Transport: transport, Timeout: patience}}
}

// errUnavailable is the error of a request that is refused with a 503, which clients try again.
var errUnavailable = errors.New("unavailable")

// do sends a request and decodes the answer into out, unless that is nil.
func (a *api) do(ctx context.Context, method, path string, body []byte, out any) error {
	req, err := http.NewRequestWithContext(ctx, method, a.url+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, data)
		if resp.StatusCode == http.StatusServiceUnavailable {
			err = errors.Join(errUnavailable, err)
		}
		return err
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(data, out)
}

func jobPath(job string) string { return "/jobCollections/default/jobs/" + job }

func (a *api) put(ctx context.Context, job string, document []byte) error {
	return a.do(ctx, http.MethodPut, jobPath(job), document, nil)
}

// status is what a job tells of itself.
type status struct {
	State  scheduler.State
	Status struct {
		ExecutionCount, FailureCount, FaultedCount, RetryCount int
		NextExecutionTime                                      time.Time
		Running                                                bool
	}
}

func (a *api) get(ctx context.Context, job string) (status, error) {
	var answer struct {
		Properties status `json:"properties"`
	}
	err := a.do(ctx, http.MethodGet, jobPath(job), nil, &answer)
	return answer.Properties, err
}

// doctor asks for an audit that mends nothing.
func (a *api) doctor(ctx context.Context) (control.AuditReport, error) {
	var report control.AuditReport
	err := a.do(ctx, http.MethodPost, "/doctor?fix=false", nil, &report)
	return report, err
}

// history returns the ids of a job's attempts, newest first, page by page.
func (a *api) history(ctx context.Context, job string, page int) ([]string, error) {
	var ids []string
	path := fmt.Sprintf("%s/history?$top=%d", jobPath(job), page)
	for {
		var answer struct {
			Value []struct {
				Properties struct {
					AttemptID string `json:"attemptId"`
				} `json:"properties"`
			} `json:"value"`
			NextLink string `json:"nextLink"`
		}
		if err := a.do(ctx, http.MethodGet, path, nil, &answer); err != nil {
			return nil, err
		}
		for _, v := range answer.Value {
			if v.Properties.AttemptID != "" {
				ids = append(ids, v.Properties.AttemptID)
			}
		}
		if answer.NextLink == "" {
			return ids, nil
		}
		path = answer.NextLink[len(a.url):]
	}
}

// jet connects to a NATS server until the test ends.
func jet(t *testing.T, url string) jetstream.JetStream {
	t.Helper()
	nc := must.Get(nats.Connect(url, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond)))(t)
	t.Cleanup(nc.Close)
	return must.Get(jetstream.New(nc, jetstream.WithDefaultTimeout(patience)))(t)
}

// job is a job document.
type job struct {
	StartTime  *time.Time      `json:"startTime,omitempty"`
	Recurrence *recurrence     `json:"recurrence,omitempty"`
	CatchUp    *catchUp        `json:"catchUp,omitempty"`
	Overlap    string          `json:"overlap,omitempty"`
	State      string          `json:"state,omitempty"`
	Trigger    json.RawMessage `json:"trigger,omitempty"`
	Action     action          `json:"action"`

	acked time.Time // when it was there; zero: before it was first due
}

// occurrences are the instants of a job before another one. On a busy machine, a job may be there only after it was first
// due: those are left out that came before, which it does not run.
func (j job) occurrences(before time.Time) iter.Seq[time.Time] {
	every := time.Duration(j.Recurrence.Interval) * time.Second
	return func(yield func(time.Time) bool) {
		for at := *j.StartTime; at.Before(before); at = at.Add(every) {
			if at.After(j.acked) && !yield(at) {
				return
			}
		}
	}
}

// putAll puts jobs, and notes when they were there. As any client does, it tries again what is refused with a 503: on a busy
// machine, an election may take longer than a request.
func (a *api) putAll(ctx context.Context, t *testing.T, jobs map[string]job) {
	t.Helper()
	for name, j := range jobs {
		await(ctx, t, "job "+name+" is stored", patience, func() bool {
			err := a.put(ctx, name, j.document())
			if err != nil && !errors.Is(err, errUnavailable) {
				t.Fatal(err)
			}
			return err == nil
		})
		j.acked = time.Now()
		jobs[name] = j
	}
}

type recurrence struct {
	Frequency string `json:"frequency"`
	Interval  int    `json:"interval"`
	Count     int    `json:"count,omitempty"`
}

type catchUp struct {
	Policy string `json:"policy"`
	Window string `json:"window"`
}

type action struct {
	Type    string      `json:"type"`
	Request request     `json:"request"`
	Retry   retryPolicy `json:"retryPolicy"`
}

type request struct {
	URI    string `json:"uri"`
	Method string `json:"method"`
	Body   string `json:"body"`
}

type retryPolicy struct {
	Type     string `json:"retryType"`
	Interval string `json:"retryInterval"`
	Count    int    `json:"retryCount"`
}

// newJob returns a job that calls url, once at start, and makes up for all that it misses.
func newJob(url string, start time.Time) job {
	return job{
		StartTime: &start,
		CatchUp:   &catchUp{"all", "PT2H"},
		Action: action{
			Type:    "http",
			Request: request{url, http.MethodPost, "x"},
			Retry:   retryPolicy{"fixed", "PT1S", 5},
		},
	}
}

// every makes the job run again and again.
func (j job) every(n int, frequency string) job {
	j.Recurrence = &recurrence{Frequency: frequency, Interval: n}
	return j
}

func (j job) document() []byte {
	data, err := json.Marshal(j)
	if err != nil {
		panic(err) // plain fields
	}
	return data
}
