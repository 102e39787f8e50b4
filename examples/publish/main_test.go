package main

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/cmd/carillon/echo"
	"github.com/carillon-sched/carillon/cmd/carillon/node"
	"github.com/carillon-sched/carillon/store/embedded"
)

func TestPublish(t *testing.T) {
	server, target := schedule(t)
	var out strings.Builder
	if err := publish(&out, server, target); err != nil {
		t.Fatal(err)
	}
	t.Log(out.String())
	lines := strings.Split(strings.ReplaceAll(out.String(), "\n\n", "\n"), "\n")
	for i, want := range []string{"carillon.spec-result.accepted.default.published-", `"verdict":"accepted"`, "carillon.history.default.published-", `"status":"Completed"`} {
		if i >= len(lines) || !strings.Contains(lines[i], want) {
			t.Errorf("line %d does not contain %s", i+1, want)
		}
	}

	out.Reset()
	if err := publish(&out, server, "ftp://nowhere"); err == nil || !strings.Contains(out.String(), "rejected") {
		t.Errorf("a spec with a bad URI: got %v and %s", err, out.String())
	}
}

// schedule runs a scheduler with a target, as `carillon dev` does.
func schedule(t *testing.T) (server, target string) {
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
	return s.URL(), "http://" + l.Addr().String() + "/echo"
}
