package hostile

import (
	"encoding/json"
	"flag"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/integration/testkit/mutate"
)

var (
	count    = flag.Int("mutants", 1_000, "how many mutants each door gets")
	seedFlag = flag.Uint64("seed", 1, "seed of the mutations")
)

// senders is how many send to one door at once: most of the time goes into waiting for what does not come.
const senders = 4

// TestHostileInput is what the package says.
func TestHostileInput(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves it out: go test ./integration/suite/hostile")
	}
	p := start(t)
	tick := `{"action": {"type": "Http", "request": {"method": "GET", "uri": "` + p.HTTP + `/echo"}},
		"recurrence": {"rrule": "DTSTART:20260101T000000Z RRULE:FREQ=SECONDLY"}, "catchUp": {"policy": "all"}}`
	if class, _ := call(http.MethodPut, p.HTTP+"/jobCollections/default/jobs/tick", []byte(tick)); class != "201" {
		t.Fatalf("the job of every second: %s", class)
	}
	all := doors(t, p)
	tallies := make([]*tally, len(all))
	warm := p.memory()
	began := time.Now()
	var sending sync.WaitGroup
	for i, d := range all {
		tallies[i] = &tally{door: d.name}
		mutants := mutate.Mutator{Seeds: d.seeds, Words: words, Least: 1, Most: 6, Repeats: 40}
		for s := range senders {
			r := rand.New(rand.NewPCG(*seedFlag, uint64(i*senders+s)))
			sending.Go(func() {
				for range *count / senders {
					b := mutants.Mutant(r)
					at := time.Now()
					class, blame := d.send(b)
					tallies[i].add(b, class, time.Since(at), blame)
				}
			})
		}
	}
	most := watch(&sending, p)
	p.mustRun(t)
	ended := time.Now()
	for _, tally := range tallies {
		t.Log(tally)
		for _, blame := range tally.blames {
			t.Errorf("%s: the server takes the blame: %.2000s", tally.door, blame)
		}
	}
	t.Logf("memory: %d MiB before, %d at most, %d in the end", warm>>20, most>>20, p.memory()>>20)
	if most > 1<<30 {
		t.Errorf("it took %d MiB", most>>20)
	}
	mustTick(t, p, began, ended)
	if log := p.Log(); strings.Contains(log, "panic") {
		t.Errorf("it panicked:\n%s", log)
	}
	p.stop(t)
}

// watch returns the most memory that the process had while they send.
func watch(sending *sync.WaitGroup, p process) (most int64) {
	done := make(chan struct{})
	go func() {
		sending.Wait()
		close(done)
	}()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		most = max(most, p.memory())
		select {
		case <-tick.C:
		case <-done:
			return most
		}
	}
}

// mustTick looks for a completed run of each second, and tells how late they were.
func mustTick(t *testing.T, p process, began, ended time.Time) {
	t.Helper()
	ran := map[int64]bool{}
	var late []float64
	p.await(t, "the last runs", func() bool {
		clear(ran)
		late = late[:0]
		for link := p.HTTP + "/jobCollections/default/jobs/tick/history"; link != ""; {
			link = page(t, link, func(r run) {
				if r.Status == "Completed" {
					ran[r.Nominal.Unix()] = true
					late = append(late, r.Lateness)
				} else {
					t.Errorf("a run is %s: %s", r.Status, r.Message)
				}
			})
		}
		return ran[ended.Unix()]
	})
	for s := began.Unix() + 1; s <= ended.Unix(); s++ {
		if !ran[s] {
			t.Errorf("there is no run of %s", time.Unix(s, 0).UTC())
		}
	}
	slices.Sort(late)
	t.Logf("the job of every second: %d runs in %s, late by %.1f ms in the middle, %.1f (p99), %.1f at most", len(late),
		ended.Sub(began).Round(time.Second), late[len(late)/2]*1000, late[len(late)*99/100]*1000, late[len(late)-1]*1000)
}

// run is a record of the history.
type run struct {
	Status   string    `json:"status"`
	Message  string    `json:"message"`
	Nominal  time.Time `json:"expectedExecutionTime"`
	Lateness float64   `json:"lateness"`
}

// page reads a page of a history, and returns the link to the next one.
func page(t *testing.T, link string, each func(run)) (next string) {
	t.Helper()
	res, err := http.Get(link)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data := must.Get(io.ReadAll(res.Body))(t)
	var list struct {
		Value []struct {
			Properties run `json:"properties"`
		} `json:"value"`
		NextLink string `json:"nextLink"`
	}
	if err := json.Unmarshal(data, &list); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%d %s: %v", res.StatusCode, data, err)
	}
	for _, v := range list.Value {
		each(v.Properties)
	}
	return list.NextLink
}
