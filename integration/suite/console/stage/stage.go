// Package stage runs a scheduler whose console has something to show: jobs of every type of action, with every outcome, and
// queues with messages. Tests of the console and its screenshots look at it.
package stage

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/carillon-sched/carillon/integration/testkit/dev"
)

// Stage is a running `carillon dev`.
type Stage struct{ *dev.Process }

// Start runs the program on free ports, with its data in a folder.
func Start(ctx context.Context, program, dir string, args ...string) (*Stage, error) {
	p, err := dev.Start(ctx, program, dir, args...)
	if err != nil {
		return nil, err
	}
	return &Stage{p}, nil
}

// Call sends a document to the REST API, and returns the answer's status and body.
func (s *Stage) Call(ctx context.Context, method, path string, document any) (int, []byte, error) {
	body, err := json.Marshal(document)
	if err != nil {
		return 0, nil, err
	}
	r, err := http.NewRequestWithContext(ctx, method, s.HTTP+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, text, err
}

// Put stores a job.
func (s *Stage) Put(ctx context.Context, collection, name string, job any) error {
	status, body, err := s.Call(ctx, http.MethodPut, "/jobCollections/"+collection+"/jobs/"+name, job)
	if err == nil && status/100 != 2 {
		err = fmt.Errorf("put %s/%s: %d %s", collection, name, status, body)
	}
	return err
}
