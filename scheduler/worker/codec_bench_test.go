package worker_test

import (
	"testing"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/scheduler"
)

// BenchmarkDecodeJob is what a job costs that is not in the library: once for
// each one-shot.
func BenchmarkDecodeJob(b *testing.B) {
	data := []byte(`{"uid":"ABCDEFGHIJKLMNOPQRSTUVWXYZ","generation":1,"scheduleGeneration":1,
		"created":"2026-01-01T00:00:00Z","updated":"2026-01-01T00:00:00Z","anchor":"2026-01-01T00:00:00Z","state":"enabled","properties":{"startTime":"2026-02-01T00:00:00Z",` + action + `}}`)
	reader := actions.New(web.New(web.Config{}))
	b.ReportAllocs()
	for b.Loop() {
		j, err := scheduler.DecodeJob(key("job"), 1, data, reader, nil)
		if err != nil {
			b.Fatal(err)
		}
		if j.Plan == nil {
			b.Fatal("no plan")
		}
	}
}
