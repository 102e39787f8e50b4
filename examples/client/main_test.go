package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/echo"
	"github.com/carillon-sched/carillon/cmd/carillon/node"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store/embedded"
)

// TestSchedule runs the program over either transport.
func TestSchedule(t *testing.T) {
	natsURL, api := start(t)
	for _, server := range []string{api, natsURL} {
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

// start runs a scheduler with a target, as `carillon dev` does.
func start(t *testing.T) (natsURL, api string) {
	t.Helper()
	s, err := embedded.Start(t.Context(), embedded.Config{Dir: t.TempDir(), Addr: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	nc, err := s.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { node.CloseConn(nc) })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n, err := node.Open(t.Context(), node.Config{Conn: nc, Listener: l, Handlers: map[string]http.Handler{"/echo": echo.Handler()}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- n.Run(ctx, func() error { close(ready); return nil }) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	<-ready
	return s.URL(), "http://" + l.Addr().String()
}
