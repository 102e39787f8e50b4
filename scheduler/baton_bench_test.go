package scheduler_test

import (
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// typicalBatons are waiting batons of a one-shot and of a job that runs every minute.
func typicalBatons() map[string]scheduler.Baton {
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	return map[string]scheduler.Baton{
		"one-shot": {UID: "01234567", Revision: 1234, Schedule: 1, Nominal: at, Due: at},
		"recurring": {
			Progress: scheduler.Progress{
				Number: 1440, Runs: 1440, Executions: 1445, Failures: 5, Last: at.Add(1_234_567 - time.Minute),
				Seen: at.Add(-time.Minute), Ran: at.Add(-time.Minute), Prior: at.Add(-2 * time.Minute),
			},
			UID: "01234567", Revision: 1234, Schedule: 1, Nominal: at, Due: at,
		},
	}
}

// BenchmarkEncodeBaton measures the cost per baton that is armed or passed on.
func BenchmarkEncodeBaton(b *testing.B) {
	for name, baton := range typicalBatons() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				baton.Encode()
			}
			b.ReportMetric(float64(len(baton.Encode())), "bytes/baton")
		})
	}
}

// BenchmarkDecodeBaton measures the cost per baton that is fired.
func BenchmarkDecodeBaton(b *testing.B) {
	for name, baton := range typicalBatons() {
		b.Run(name, func(b *testing.B) {
			data := baton.Encode()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := scheduler.DecodeBaton(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
