package scheduler_test

import (
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// typical is the record of a successful attempt, the most frequent kind.
func typical() scheduler.Record {
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	return scheduler.Record{
		ID: "default/every-minute@2026-03-02T09:00:00Z#1", Occurrence: "default/every-minute@2026-03-02T09:00:00Z",
		Outcome: scheduler.OutcomeCompleted, Nominal: at, Due: at, Started: at.Add(1_234_567), Ended: at.Add(13_580_246),
		Try: 1, Status: 200, Message: "Http Action - Response from host '127.0.0.1': 'OK' Response Headers: Date: Mon, 02 Mar 2026 09:00:00 GMT\r\n" +
			"Content-Length: 2\r\nContent-Type: text/plain; charset=utf-8\r\n Body: ok", Summary: "OK", Response: "ok",
		Headers: "Date: Mon, 02 Mar 2026 09:00:00 GMT\r\nContent-Length: 2\r\nContent-Type: text/plain; charset=utf-8\r\n", Duration: 12_345_679,
		Type: "Http", Target: "127.0.0.1:8080", UID: "01234567", Revision: 1234, Schedule: 1,
		Progress: scheduler.Progress{
			Number: 1440, Runs: 1440, Executions: 1445, Failures: 5, Last: at.Add(1_234_567), Seen: at, Ran: at, Prior: at.Add(-time.Minute),
		},
	}
}

// BenchmarkEncodeRecord measures the cost per recorded attempt.
func BenchmarkEncodeRecord(b *testing.B) {
	r := typical()
	data, err := r.Encode()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Encode(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(data)), "bytes/record")
}

// BenchmarkDecodeRecord measures the cost per displayed record.
func BenchmarkDecodeRecord(b *testing.B) {
	r := typical()
	data, err := r.Encode()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := scheduler.DecodeRecord(data); err != nil {
			b.Fatal(err)
		}
	}
}
