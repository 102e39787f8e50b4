package servicebus_test

import (
	"io"
	"testing"

	"github.com/coder/websocket"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
)

// TestWebSocketPaths shows that AMQP is served at both paths that clients ask for: with a slash at the end, as .NET's and Python's do,
// and without.
func TestWebSocketPaths(t *testing.T) {
	server, err := servicebus.Start(t.Context(), servicebus.Config{Addr: "127.0.0.1:0", HTTPAddr: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	for _, path := range []string{"/$servicebus/websocket", "/$servicebus/websocket/"} {
		conn, _, err := websocket.Dial(t.Context(), "ws://"+server.HTTPAddr()+path, //nolint:bodyclose // Dial closes it
			&websocket.DialOptions{Subprotocols: []string{"AMQPWSB10"}})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		stream := websocket.NetConn(t.Context(), conn, websocket.MessageBinary)
		header := make([]byte, 8)
		_, err = stream.Write([]byte("AMQP\x00\x01\x00\x00"))
		if err == nil {
			_, err = io.ReadFull(stream, header)
		}
		if err != nil || string(header) != "AMQP\x00\x01\x00\x00" {
			t.Errorf("%s: %q, %v", path, header, err)
		}
		_ = conn.CloseNow()
	}
}
