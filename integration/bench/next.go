package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// action is the least a job document needs.
const action = `"action":{"type":"http","request":{"uri":"http://example.com/","method":"POST"}}`

// micro is a single step to be timed.
type micro struct {
	name string
	step func() error
}

// next times single steps of planning.
func next(ctx context.Context, b *bench) ([]part, error) {
	steps, err := microSteps(time.Now().UTC())
	if err != nil {
		return nil, err
	}
	if b.n > 0 {
		testing.Init()
		if err := flag.Set("test.benchtime", strconv.Itoa(b.n)+"x"); err != nil {
			return nil, err
		}
	}
	end, err := b.profileHere()
	if err != nil {
		return nil, err
	}
	var parts []part
	for _, m := range steps {
		if ctx.Err() != nil {
			break
		}
		b.progress.sayf("%s", m.name)
		var p part
		if p, err = m.measure(); err != nil {
			break
		}
		parts = append(parts, p)
	}
	return parts, errors.Join(err, ctx.Err(), end())
}

func (m micro) measure() (part, error) {
	var failure error
	r := testing.Benchmark(func(b *testing.B) {
		b.Helper()
		b.ReportAllocs()
		for range b.N {
			if err := m.step(); err != nil {
				failure = err
			}
		}
	})
	ns := float64(r.T.Nanoseconds()) / float64(max(1, r.N))
	return part{m.name, figures{
		{"ns_per_op", ns}, {"allocs_per_op", float64(r.AllocsPerOp())}, {"bytes_per_op", float64(r.AllocedBytesPerOp())},
	}}, failure
}

// recurrences are the schedules whose next instant is timed.
var recurrences = []struct{ name, json string }{
	{"every 10 seconds", `{"frequency":"second","interval":10}`},
	{"every 15 minutes", `{"frequency":"minute","interval":15}`},
	{"hourly", `{"frequency":"hour","interval":1}`},
	{"daily", `{"frequency":"day","interval":1}`},
	{"daily at 10 and 22", `{"frequency":"day","interval":1,"schedule":{"hours":[10,22],"minutes":[0]}}`},
	{"weekdays at 10", `{"frequency":"week","schedule":{"weekDays":["monday","tuesday","wednesday","thursday","friday"],"hours":[10]}}`},
	{"every third month", `{"frequency":"month","interval":3}`},
	{"last day of the month", `{"frequency":"month","schedule":{"monthDays":[-1]}}`},
	{"second Friday", `{"frequency":"month","schedule":{"monthlyOccurrences":[{"day":"friday","occurrence":2}]}}`},
	{"cron, office hours", `{"cron":"*/15 9-17 * * 1-5"}`},
	{"cron, in New York", `{"cron":"*/15 9-17 * * 1-5 * America/New_York"}`},
	{"cron, 29 February", `{"cron":"0 0 29 2 *"}`},
	{"@recur", `{"cron":"@recur 7 hours"}`},
	{"RRULE, minutes of weekdays", `{"rrule":"RRULE:FREQ=MINUTELY;BYDAY=MO,TU,WE,TH,FR"}`},
	{"RRULE, last weekday of the month", `{"rrule":"RRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1"}`},
	{"RRULE without EXRULE", `{"rrule":"RRULE:FREQ=MINUTELY;INTERVAL=5 EXRULE:FREQ=MINUTELY;INTERVAL=5;BYDAY=MO;BYHOUR=17,18"}`},
}

// microSteps returns the steps as of now.
func microSteps(now time.Time) ([]micro, error) {
	reading := scheduler.Reading{Actions: builtin.New(builtin.Config{}), Now: now}
	read := func(text []byte) (*scheduler.Definition, error) {
		v, err := document.Parse(text)
		if err != nil {
			return nil, err
		}
		return reading.Definition(v)
	}
	start := now.AddDate(-10, 0, 0).Format(time.RFC3339Nano)
	var steps []micro
	for _, r := range recurrences {
		def, err := read(fmt.Appendf(nil, `{"startTime":%q,"recurrence":%s,%s}`, start, r.json, action))
		if err != nil {
			return nil, err
		}
		plan, err := spec.NewPlan(def.Timing, def.Timing.Start)
		if err != nil {
			return nil, err
		}
		steps = append(steps, micro{"next of " + r.name, func() error { return soon(plan, now) }})
	}
	weekly := []byte(sample)
	return append(steps, micro{"parse and read a job", func() error {
		_, err := read(weekly)
		return err
	}}), nil
}

func soon(plan *spec.Plan, now time.Time) error {
	if _, ok := plan.Next(now); !ok {
		return errors.New("a recurrence without end has no next instant")
	}
	return nil
}

// sample is a job document of usual size.
const sample = `{
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
}`
