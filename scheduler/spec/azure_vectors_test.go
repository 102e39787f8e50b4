package spec_test

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// vector is a row of testdata/azure.jsonl: a job, its creation time and its first n runs, or that it must be refused.
// The rows were computed by independent implementations; where the page allows several readings, expected_utc is the
// chosen one.
type vector struct {
	ID       string          `json:"id"`
	Job      json.RawMessage `json:"job"`
	Now      time.Time       `json:"now"`
	N        int             `json:"n"`
	Expected []time.Time     `json:"expected_utc"`
	Complete bool            `json:"complete"`
	Error    bool            `json:"error"`
	Why      string          `json:"why"`
}

func TestVectors(t *testing.T) {
	for _, v := range readVectors(t) {
		t.Run(v.ID, func(t *testing.T) {
			p, err := planOf(v.Job, v.Now)
			if v.Error {
				checkRefused(t, err, v.Why)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			times, complete := p.Upcoming(v.N)
			if !slices.EqualFunc(times, v.Expected, time.Time.Equal) {
				t.Errorf("runs of %s\n got %v\nwant %v", v.Job, times, v.Expected)
			}
			if complete != v.Complete {
				t.Errorf("complete = %v, want %v", complete, v.Complete)
			}
		})
	}
}

// checkRefused checks that err names the place of each problem.
func checkRefused(t *testing.T, err error, why string) {
	t.Helper()
	problems, ok := err.(document.Problems) //nolint:errorlint // the reader's own
	if !ok {
		t.Fatalf("accepted; want it refused: %s", why)
	}
	for _, p := range problems {
		if p.Path == "" || p.Message == "" {
			t.Errorf("problem %q has no path or message", p)
		}
	}
	t.Logf("%s: %v", why, err)
}

// planOf reads a job of startTime, timeZone, dst and recurrence.
func planOf(job []byte, created time.Time) (*spec.Plan, error) {
	v, err := document.Parse(job)
	if err != nil {
		return nil, err
	}
	r := document.NewReader()
	o := r.Object(v, "")
	timing := spec.ReadTiming(o)
	o.Done()
	if err := r.Err(); err != nil {
		return nil, err
	}
	return spec.NewPlan(timing, created)
}

func readVectors(t *testing.T) []vector {
	t.Helper()
	file, err := os.Open("testdata/azure.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var vectors []vector
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		vectors = append(vectors, v)
	}
	return vectors
}
