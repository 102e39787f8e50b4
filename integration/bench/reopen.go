package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// reopen stops the server and starts everything again on the same directory.
func (s *stage) reopen(ctx context.Context) (fs figures, err error) {
	if s.apart() {
		return s.reopenApart(ctx)
	}
	stopping := time.Now()
	if err := s.engine.close(); err != nil {
		return nil, err
	}
	fs = figures{{"stop_s", time.Since(stopping).Seconds()}}
	s.progress.sayf("stopped; starting again")

	began := time.Now()
	note := func(name string) { fs = append(fs, figure{name, time.Since(began).Seconds()}) }
	if s.engine, err = startEngine(ctx, s.data(), &s.options); err != nil {
		return nil, err
	}
	note("server_s")
	sys, err := s.startSystem(ctx, newTarget(s.sink))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sys.close()) }()
	note("store_s")
	if err := s.putAndFire(ctx, sys, extraJob(0), 1); err != nil {
		return nil, err
	}
	note("ready_s")
	s.progress.sayf("ready; audit")
	audit, err := s.audit(ctx, sys)
	if err != nil {
		return nil, err
	}
	now, _ := resident(self)
	return append(append(fs, audit...), figure{"rss_restart_mb", float64(now) / 1e6}), nil
}

// reopenApart stops both processes in good order and starts them again, kills them and starts them again, on the same
// directory. The scheduler was stopped already.
func (s *stage) reopenApart(ctx context.Context) (figures, error) {
	stopping := time.Now()
	if err := s.engine.close(); err != nil {
		return nil, err
	}
	fs := figures{{"stop_s", time.Since(stopping).Seconds()}}
	s.leave(s.engine.process)
	after, err := s.restarted(ctx, 0, "", func(sys *system, worker *serving) error {
		audit, err := s.audit(ctx, sys)
		if err != nil {
			return err
		}
		if _, err := s.rest(ctx); err != nil { // the audit that each start makes
			return err
		}
		fs = append(append(fs, audit...), s.residentNow("rss_restart_mb")...)
		worker.kill()
		s.engine.process.kill()
		s.leave(worker.process, s.engine.process)
		return nil
	})
	if err != nil {
		return nil, err
	}
	killed, err := s.restarted(ctx, 1, "killed_", func(sys *system, _ *serving) error { return sys.stop() })
	return append(append(after, killed...), fs...), err
}

// restarted starts both processes at once and waits until the server answers, and until a job that is put then has called
// the sink. The names of the figures begin with prefix; then is called with what runs. It is the start number nth.
func (s *stage) restarted(ctx context.Context, nth int, prefix string, then func(*system, *serving) error) (fs figures, err error) {
	began := time.Now()
	note := func(name string) { fs = append(fs, figure{prefix + name, time.Since(began).Seconds()}) }
	addr, url := s.engine.addr(), s.engine.url
	worker, ready, err := spawnServe(s.files.carillon, s.dir, url, s.key, s.serveArgs()...)
	if err != nil {
		return nil, err
	}
	s.adopt(worker.process)
	if err := s.spawnServer(ctx, addr); err != nil {
		return nil, err
	}
	server, err := s.engine.streams()
	if err != nil {
		return nil, err
	}
	defer server.nc.Close()
	if err := s.engine.process.started(ctx, func() bool { _, err := server.js.AccountInfo(ctx); return err == nil }); err != nil {
		return nil, err
	}
	note("server_s")
	sys := &system{carillon: &remote{s, server.nc, worker}, streams: server, putters: remotePutters}
	job := extraJob(nth)
	if err := worker.started(ctx, func() bool { return s.accepts(ctx, sys, job) }); err != nil {
		return nil, err
	}
	note("api_s")
	if err := s.arrives(ctx, nth+1); err != nil {
		return nil, err
	}
	note("ready_s")
	if err := worker.started(ctx, ready); err != nil { // it has told where its other addresses are
		return nil, err
	}
	return fs, then(sys, worker)
}

// accepts puts the job, if there is somebody to take it.
func (s *stage) accepts(ctx context.Context, sys *system, job calendar) bool {
	return sys.put(ctx, job.job(0), job.document(0, s.sink.url)) == nil
}

// extraJob is a job that is due at once, put after start number nth.
func extraJob(nth int) calendar {
	return calendar{collection: "default", prefix: fmt.Sprintf("extra-%d-", nth), jobs: 1, first: time.Now().UTC()}
}

// putAndFire puts a job that is due at once and waits for its call, which is number calls.
func (s *stage) putAndFire(ctx context.Context, sys *system, job calendar, calls int) error {
	if err := sys.put(ctx, job.job(0), job.document(0, s.sink.url)); err != nil {
		return err
	}
	return s.arrives(ctx, calls)
}

// arrives waits until so many calls have come, and makes sure that there are no more.
func (s *stage) arrives(ctx context.Context, calls int) error {
	if err := await(ctx, time.Now().Add(time.Minute), func() bool { return s.sink.distinct() >= calls }); err != nil {
		return err
	}
	if n := s.sink.distinct(); n != calls {
		return fmt.Errorf("%d calls for %d jobs put after the restart", n, calls)
	}
	return nil
}

// audit lets the service compare the jobs with their batons.
func (s *stage) audit(ctx context.Context, sys *system) (figures, error) {
	began := time.Now()
	rep, err := sys.audit(ctx)
	took := figure{"audit_s", time.Since(began).Seconds()}
	if err != nil && ctx.Err() == nil { // the other figures are worth having
		s.progress.log().Error("audit", "err", err)
		return figures{took, {"audit_failed", 1}}, nil
	}
	if rep.Waiting != s.n || rep.Jobs < s.n {
		return nil, fmt.Errorf("the audit found %d batons waiting and %d definitions, of %d jobs", rep.Waiting, rep.Jobs, s.n)
	}
	for _, f := range rep.Findings {
		s.progress.log().Error("audit", "job", f.Name, "problem", f.Problem)
	}
	return figures{took, {"audit_findings", float64(len(rep.Findings))}}, err
}
