package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/service"
)

// remotePutters is how many callers put jobs at once through the API on NATS.
const remotePutters = 64

// remote is `carillon serve` in a process of its own. Jobs are put and read through its API on NATS.
type remote struct {
	stage   *stage
	nc      *nats.Conn // to call it over
	serving *serving
}

// startRemote starts a scheduler beside the stage's server.
func (s *stage) startRemote(ctx context.Context, nc *nats.Conn, args ...string) (*remote, error) {
	p, err := startServe(ctx, s.files.carillon, s.dir, s.engine.url, s.key, s.serveArgs(args...)...)
	if err != nil {
		return nil, err
	}
	s.adopt(p.process)
	r := &remote{s, nc, p}
	return r, p.started(ctx, func() bool { return r.answers(ctx) })
}

// answers reports whether the API on NATS is there, which need not be so when the one over HTTP is.
func (r *remote) answers(ctx context.Context) bool {
	_, _, err := r.call(ctx, "get", scheduler.Key{Collection: "default", Job: "none"}, nil)
	_, refused := errors.AsType[*refusal](err)
	return refused
}

// refusal is an error that the API answered with.
type refusal struct{ verb, code, text string }

// Error tells what was refused, and why.
func (e *refusal) Error() string { return e.verb + ": " + e.code + ": " + e.text }

// stop stops the process. One that has ended already did so by itself.
func (r *remote) stop() error {
	err := r.serving.alive()
	r.stage.leave(r.serving.process)
	return errors.Join(err, r.serving.stop())
}

func (r *remote) ingest(context.Context) (stop func() error) { return func() error { return nil } }

// callTimeout is how long a call of the API may take.
const callTimeout = time.Minute

// call sends a request to the API on NATS and returns the answer with its status.
func (r *remote) call(ctx context.Context, verb string, key scheduler.Key, body []byte) (answer []byte, status string, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	m, err := r.nc.RequestWithContext(ctx, "carillon.api."+verb+"."+key.Collection+"."+key.Job, body)
	if err != nil {
		return nil, "", err
	}
	if text := m.Header.Get("Nats-Service-Error"); text != "" {
		return nil, "", &refusal{verb, m.Header.Get("Nats-Service-Error-Code"), text}
	}
	return m.Data, m.Header.Get("Carillon-Status"), nil
}

func (r *remote) put(ctx context.Context, key scheduler.Key, document []byte) error {
	_, status, err := r.call(ctx, "put", key, document)
	if err == nil && status != "201" {
		err = fmt.Errorf("status %q: it was there before", status)
	}
	return err
}

// askTimeout is how long an answer may take to whether a job is completed. A request that a process took which was then killed
// is not answered, and asked again.
const askTimeout = 2 * time.Second

func (r *remote) completed(ctx context.Context, key scheduler.Key) (bool, error) {
	asking, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	answer, _, err := r.call(asking, "get", key, nil)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var job struct {
		Properties struct {
			State scheduler.State `json:"state"`
		} `json:"properties"`
	}
	err = json.Unmarshal(answer, &job)
	return job.Properties.State == scheduler.Completed, err
}

// audit asks for what `carillon doctor` shows.
func (r *remote) audit(ctx context.Context) (*service.AuditReport, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.serving.http+"/doctor?fix=false", http.NoBody)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	rep := &service.AuditReport{}
	data, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("doctor: %s: %s", resp.Status, data)
	}
	if err == nil {
		err = json.Unmarshal(data, rep)
	}
	return rep, err
}
