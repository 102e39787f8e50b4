package document_test

import (
	"encoding/json"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// sampleJob is a job of usual size.
const sampleJob = `{
  "properties": {
    "startTime": "2012-08-04T00:00Z",
    "action": {
      "type": "http",
      "request": {
        "uri": "https://example.com/hooks/nightly?tenant=42",
        "method": "PUT",
        "body": "{\"text\":\"Posting from a timer\"}",
        "headers": {"Content-Type": "application/json", "X-Tenant": "42"}
      },
      "retryPolicy": {"retryType": "fixed", "retryInterval": "PT30S", "retryCount": 4}
    },
    "recurrence": {
      "frequency": "week",
      "interval": 1,
      "schedule": {"weekDays": ["monday", "wednesday", "friday"], "hours": [10, 22]},
      "count": 10
    },
    "state": "enabled"
  }
}`

func BenchmarkParse(b *testing.B) {
	data := []byte(sampleJob)
	b.Run("JSON", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := document.Parse(data); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encodingJSON", func(b *testing.B) { // the baseline
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			var v any
			if err := json.Unmarshal(data, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("YAML", func(b *testing.B) {
		text := []byte("startTime: 2012-08-04T00:00Z\nrecurrence:\n  frequency: week\n  schedule:\n    weekDays: [monday]\n    hours: [10, 22]\n")
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := document.Parse(text); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkJSON(b *testing.B) {
	v, err := document.Parse([]byte(sampleJob))
	if err != nil {
		b.Fatal(err)
	}
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		out = v.AppendJSON(out[:0])
	}
	b.SetBytes(int64(len(out)))
}

func BenchmarkRead(b *testing.B) {
	b.ReportAllocs()
	data := []byte(sampleJob)
	for b.Loop() {
		v, _ := document.Parse(data)
		r := document.NewReader()
		o, _ := r.Object(v, "").Object("properties")
		o.Time("startTime")
		o.Enum("state", "enabled", "disabled")
		recurrence, _ := o.Object("recurrence")
		recurrence.Enum("frequency", "day", "week", "month")
		recurrence.Int("interval", 1, 1000)
		recurrence.Int("count", 1, 1000)
		schedule, _ := recurrence.Object("schedule")
		schedule.Enums("weekDays", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
		schedule.Ints("hours", 0, 23)
		schedule.Done()
		recurrence.Done()
		if r.Err() != nil {
			b.Fatal(r.Err())
		}
	}
}
