package jobs_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/console"
	"github.com/carillon-sched/carillon/scheduler/console/consoletest"
	"github.com/carillon-sched/carillon/scheduler/control"
)

// held is a store whose reading of what has changed waits for go, and before it the reading of everything for start.
type held struct {
	scheduler.Store

	start, goOn <-chan struct{}
}

func (h *held) EachStoredJob(ctx context.Context, f func(scheduler.Stored) error) error {
	await(ctx, h.start)
	return h.Store.EachStoredJob(ctx, f)
}

func (h *held) EachJobFrom(ctx context.Context, from uint64, f func(scheduler.Stored, bool) error) error {
	await(ctx, h.goOn)
	return h.Store.EachJobFrom(ctx, from, f)
}

func await(ctx context.Context, c <-chan struct{}) {
	select {
	case <-c:
	case <-ctx.Done():
	}
}

// TestIndexCatchesUp shows a table while the index is built, and while it is behind: it says so, has the script ask again, and tells
// nobody aloud until it is over.
func TestIndexCatchesUp(t *testing.T) {
	start, goOn := make(chan struct{}), make(chan struct{})
	w := consoletest.New(t, func(w *consoletest.Harness, cfg *console.Config) {
		w.Service = control.New(control.Config{
			Store: &held{w.Store, start, goOn}, Actions: w.Actions, Secrets: w.Vault, IndexBulk: 64,
		})
		cfg.Service = w.Service
	})
	w.Put("default/zzz", never)
	w.Work()
	const path = "/console/jobs?q=many&again=1"
	is := func(what string, want bool, texts ...string) {
		t.Helper()
		body := w.Part(path)
		for _, text := range texts {
			if strings.Contains(body, text) != want {
				t.Errorf("%s: %q in it: %t, want %t:\n%.600s", what, text, !want, want, body)
			}
		}
	}
	is("while it is built", true, `data-again="`, `aria-live="off"`, "jobs are sorted by name", `<progress max="100" value="0"`)
	close(start)
	w.Await("the index", w.Service.Indexed)
	is("when it is built", false, "data-again", "aria-live", "<progress")

	// More than a page reads by itself.
	const many = 8000
	var puts sync.WaitGroup
	for from := range 32 {
		puts.Go(func() {
			for i := from; i < many; i += 32 {
				_, _, err := w.Service.Put(t.Context(), control.Edit{Key: consoletest.Key(fmt.Sprintf("default/many-%d", i)), Body: []byte(never)})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	puts.Wait()
	is("while it is behind", true, `data-again="`, `aria-live="off"`, "catching up", "% indexed", "between")
	w.Has(w.Get("/console/jobs?q=many"), `data-again="`, `!aria-live="off"`)
	w.Has(w.Get("/console/jobs?q=zzz"), `data-job="default/zzz"`)
	w.Has(w.Get("/console/jobs?q=nowhere"), "No indexed job matches")
	close(goOn)
	w.Await("the index to have caught up", func() bool { return !strings.Contains(w.Part(path), "data-again") })
	is("when it has caught up", true, "000 jobs")
	is("when it has caught up", false, "between", "aria-live", "<progress")
}
