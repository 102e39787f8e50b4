package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// steadyGrace is how long after the end of the measurement a call may arrive.
const steadyGrace = 10 * time.Second

// steady lets jobs recur so that they fall due at an even rate.
func steady(ctx context.Context, b *bench) ([]part, error) {
	return b.alone(ctx, func(st *stage, sys *system) (figures, error) { return b.recur(ctx, st, sys) })
}

func (b *bench) recur(ctx context.Context, st *stage, sys *system) (figures, error) {
	c := b.steadyCalendar()
	b.progress.sayf("%d jobs every %s, the first due at %s", c.jobs, b.interval, c.first.Format("15:04:05.000"))
	took, err := sys.putAll(ctx, b.progress, c, st.sink.url)
	if err != nil {
		return nil, err
	}
	if time.Until(c.first) < 0 {
		return nil, fmt.Errorf("the registration took %s, and the first instant has passed; give it more time with -ahead", took)
	}
	from := c.first.Add(b.warmup)
	used, err := b.steadyWindow(ctx, st.sink, c)
	if err != nil {
		return nil, err
	}
	t := st.sink.account(c, from, from.Add(b.window))
	n := len(t.late) + t.lost
	fs := figures{
		{"register_s", took.Seconds()},
		{"register_per_s", float64(c.jobs) / took.Seconds()},
		{"occurrences", float64(n)},
	}
	fs = append(fs, t.lateness()...)
	fs = append(fs, t.faults()...)
	fs = append(fs, figure{"cpu_cores", used.cpu.Seconds() / used.wall.Seconds()})
	return append(fs, used.per(n, "run")...), nil
}

// steadyCalendar has as many jobs as it takes to reach the rate, at whole
// milliseconds.
func (b *bench) steadyCalendar() calendar {
	jobs := b.rate * int(b.interval/time.Second)
	return calendar{
		collection: "default", prefix: "job-", jobs: jobs,
		first: time.Now().UTC().Add(b.lead(jobs)).Truncate(time.Second).Add(time.Millisecond),
		step:  b.interval / time.Duration(jobs), grain: time.Millisecond, interval: b.interval,
	}
}

// steadyWindow waits for the warm-up's end and for that of the measurement,
// and then until every call has come or is lost.
func (b *bench) steadyWindow(ctx context.Context, s *sink, c calendar) (used usage, err error) {
	from := c.first.Add(b.warmup)
	to := from.Add(b.window)
	if err := sleep(ctx, from); err != nil {
		return used, err
	}
	end, err := b.profile()
	if err != nil {
		return used, err
	}
	forgetPeak()
	m, arrived := startMeter(), s.distinct()
	planned := b.rate * int(b.window/time.Millisecond) / 1000
	stop := b.progress.follow("arrived", planned, func() int { return s.distinct() - arrived })
	err = sleep(ctx, to)
	used = m.stop()
	stop()
	if err = errors.Join(err, end()); err != nil {
		return used, err
	}
	return used, await(ctx, to.Add(steadyGrace), func() bool {
		for key := range c.within(from, to) {
			if _, ok := s.find(key); !ok {
				return false
			}
		}
		return true
	})
}
