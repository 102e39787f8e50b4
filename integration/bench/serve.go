package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"

	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
)

// serving is a `carillon serve` in a process of its own, with its default settings.
type serving struct {
	*process

	http   string // URL of its REST API
	client *http.Client
}

// secretKey is the key that the processes of a run seal secrets with.
func secretKey() (env string, err error) {
	key, err := seal.NewKey("bench")
	return "CARILLON_SECRET_KEY=" + key.Text(), err
}

// spawnServe starts a scheduler beside the NATS server at url, and does not wait for it.
func spawnServe(program, dir, url, key string, args ...string) (*serving, func() bool, error) {
	ports, err := os.CreateTemp(dir, "serve-*.json") // empty until everything runs
	if err != nil {
		return nil, nil, err
	}
	if err := ports.Close(); err != nil {
		return nil, nil, err
	}
	p, err := spawn(processWorker, dir, program, []string{key}, append([]string{
		"serve", "--nats-url", url, "--http", "127.0.0.1:0", "--pprof", "127.0.0.1:0", "--ports-file", ports.Name(),
		"--allow-target", "127.0.0.1", "--log-level", "warn",
	}, args...)...)
	if err != nil {
		return nil, nil, err
	}
	s := &serving{process: p, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: apiAtOnce}}}
	return s, func() bool { return s.reads(ports.Name()) }, nil
}

// serveArgs are the arguments of the stage's schedulers, with more.
func (s *stage) serveArgs(more ...string) []string {
	if s.sync == syncAlways {
		more = append(more, "--nats-sync-always")
	}
	return more
}

// startServe starts a scheduler and returns when it works.
func startServe(ctx context.Context, program, dir, url, key string, args ...string) (*serving, error) {
	s, ready, err := spawnServe(program, dir, url, key, args...)
	if err != nil {
		return nil, err
	}
	if err := s.started(ctx, ready); err != nil {
		s.kill()
		return nil, err
	}
	return s, nil
}

// reads takes the addresses from the ports file, if they are there.
func (s *serving) reads(file string) bool {
	var ports struct {
		HTTP  string `json:"http"`
		Pprof string `json:"pprof"`
	}
	data, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(data, &ports) != nil || ports.HTTP == "" {
		return false
	}
	s.http, s.pprof = ports.HTTP, ports.Pprof
	return true
}
