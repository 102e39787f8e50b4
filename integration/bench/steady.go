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
	return b.alone(ctx, func(st *stage, sys *system) (figures, error) { return st.recur(ctx, sys) })
}

func (s *stage) recur(ctx context.Context, sys *system) (figures, error) {
	c, took, err := s.putSteady(ctx, sys)
	if err != nil {
		return nil, err
	}
	fs, err := s.observe(ctx, c, c.first.Add(s.warmup))
	if err != nil {
		return nil, err
	}
	each, err := sys.sizes(ctx)
	fs = append(figures{{"register_s", took.Seconds()}, {"register_per_s", float64(c.jobs) / took.Seconds()}}, fs...)
	return append(fs, each...), err
}

// putSteady puts jobs that fall due at the rate that was asked for, before the first of them does.
func (s *stage) putSteady(ctx context.Context, sys *system) (c calendar, took time.Duration, err error) {
	c = s.steadyCalendar()
	s.progress.sayf("%d jobs every %s, the first due at %s", c.jobs, s.interval, c.first.Format("15:04:05.000"))
	if took, err = sys.putAll(ctx, s.progress, c, s.sink.url); err == nil && time.Until(c.first) < 0 {
		err = fmt.Errorf("the registration took %s, and the first instant has passed; give it more time with -ahead", took)
	}
	return c, took, err
}

// observe measures what falls due from an instant on, for the window that was asked for.
func (s *stage) observe(ctx context.Context, c calendar, from time.Time) (figures, error) {
	used, err := s.steadyWindow(ctx, c, from)
	if err != nil {
		return nil, err
	}
	t := s.sink.account(c, from, from.Add(s.window))
	n := len(t.late) + t.lost
	fs := append(figures{{"occurrences", float64(n)}}, t.lateness()...)
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

// steadyWindow waits for the beginning of the measurement and for its end, and
// then until every call has come or is lost.
func (s *stage) steadyWindow(ctx context.Context, c calendar, from time.Time) (used usage, err error) {
	to := from.Add(s.window)
	if err := sleep(ctx, from); err != nil {
		return used, err
	}
	end, err := s.profile(ctx, orderCarillon, s.window)
	if err != nil {
		return used, err
	}
	s.forgetPeaks()
	m, arrived := s.startMeter(ctx), s.sink.distinct()
	planned := s.rate * int(s.window/time.Millisecond) / 1000
	stop := s.progress.follow("arrived", planned, func() int { return s.sink.distinct() - arrived })
	err = sleep(ctx, to)
	used = m.stop(ctx)
	stop()
	if err = errors.Join(err, end()); err != nil {
		return used, err
	}
	return used, s.complete(ctx, c, from, to)
}

// complete waits until every call that was due in [from, to) has come, or is lost.
func (s *stage) complete(ctx context.Context, c calendar, from, to time.Time) error {
	var failure error
	err := await(ctx, to.Add(steadyGrace), func() bool {
		if failure = s.sink.collect(ctx); failure != nil {
			return true
		}
		for key := range c.within(from, to) {
			if _, ok := s.sink.find(key); !ok {
				return false
			}
		}
		return true
	})
	return errors.Join(err, failure)
}
