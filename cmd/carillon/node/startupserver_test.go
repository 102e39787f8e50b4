package node_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/cmd/carillon/node"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestDoor asks a process that still starts, and then whoever has its listener.
func TestDoor(t *testing.T) {
	l := must.Get(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	door := node.OpenDoor(node.Config{Listener: l, AllowHost: func(host string) bool { return !strings.HasPrefix(host, "evil") }})
	url := "http://" + l.Addr().String()
	door.SetReason(`starting: connecting to NATS at "nats://n1"`)
	for _, test := range []struct {
		path, host string
		status     int
		says       string
	}{
		{"/healthz", "", 200, `"ok"`},
		{"/readyz", "", 503, "connecting to NATS"},
		{"/jobCollections", "", 503, "connecting to NATS"},
		{"/readyz", "evil.example", 421, ""},
	} {
		status, answer := get(t, url+test.path, "Host", test.host)
		body := string(must.Get(io.ReadAll(answer))(t))
		if status != test.status || !strings.Contains(body, test.says) || test.says == "" && body != "" {
			t.Errorf("%s %s: %d %s", test.path, test.host, status, body)
		}
		if body != "" && !json.Valid([]byte(body)) {
			t.Errorf("%s: %s", test.path, body)
		}
	}
	door.Close()
	door.Close()
	next := &http.Server{Handler: http.NotFoundHandler()}
	go func() { _ = next.Serve(l) }()
	defer func() { _ = next.Close() }()
	if status, _ := get(t, url+"/readyz"); status != http.StatusNotFound {
		t.Errorf("after it was closed: %d", status)
	}
}
