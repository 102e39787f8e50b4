package node_test

import (
	"fmt"
	"log/slog"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/cmd/carillon/node"
	"github.com/carillon-sched/carillon/cmd/carillon/node/nodetest"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestLostConnectionIsToldOnce shows that the writes that fail with a connection are no lines beside the one that tells of
// its loss, and that other errors are.
func TestLostConnectionIsToldOnce(t *testing.T) {
	var text strings.Builder
	var opts nats.Options
	for _, o := range node.NewLink(slog.New(slog.NewTextHandler(&text, nil)), func() {}).Options() {
		must.Do(t, o(&opts))
	}
	write := &net.OpError{Op: "write", Net: "tcp", Err: syscall.EPIPE}
	for range 50 {
		opts.AsyncErrorCB(nil, nil, write)
	}
	opts.DisconnectedErrCB(nil, write)
	opts.AsyncErrorCB(nil, &nats.Subscription{Subject: "a.b"}, fmt.Errorf("%w: publish to c", nats.ErrPermissionViolation))
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "connection to NATS lost") || !strings.Contains(lines[1], "subject=a.b") {
		t.Errorf("told:\n%s", text.String())
	}
}

// TestReadyAnswersNATS asks over NATS the moment a scheduler is ready.
func TestReadyAnswersNATS(t *testing.T) {
	s := nodetest.Start(t, node.Config{}, nil)
	if _, err := s.Conn.Request("carillon.api.secret-put.a.b.c", nil, 10*time.Second); err != nil { // the last endpoint
		t.Error(err)
	}
}
