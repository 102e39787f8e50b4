package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/node"
	"github.com/carillon-sched/carillon/cmd/carillon/node/nodetest"
	"github.com/carillon-sched/carillon/scheduler"
)

// TestSchedule runs the program over either transport.
func TestSchedule(t *testing.T) {
	s := nodetest.Start(t, node.Config{}, nil)
	api := s.API
	for _, server := range []string{api, s.NATS} {
		var out strings.Builder
		err := schedule(t.Context(), &out, server, api+"/echo")
		for end := time.Now().Add(patience); errors.Is(err, scheduler.ErrUnavailable) && time.Now().Before(end); {
			out.Reset()
			err = schedule(t.Context(), &out, server, api+"/echo") // the micro service is about to start
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := out.String(); !strings.Contains(got, " created\n") || !strings.Contains(got, " completed\nCompleted 200 ") {
			t.Errorf("%s: %s", server, got)
		}
		if err := schedule(t.Context(), &out, server, "ftp://nowhere"); !errors.Is(err, scheduler.ErrInvalid) {
			t.Errorf("%s: a job with a bad URI: %v", server, err)
		}
	}
}
