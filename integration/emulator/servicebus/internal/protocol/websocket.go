package protocol

import (
	"context"
	"net"
	"net/http"

	"github.com/coder/websocket"
)

// WebSocketPath is where clients expect AMQP over WebSocket.
const WebSocketPath = "/$servicebus/websocket"

// subprotocol is the name of AMQP over WebSocket.
const subprotocol = "AMQPWSB10"

// ServeHTTP serves a connection over WebSocket.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	socket, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols:       []string{subprotocol},
		InsecureSkipVerify: true, // pages of other machines do not get here
	})
	if err != nil {
		return // Accept has answered
	}
	socket.SetReadLimit(-1) // frames are bounded by the reader, which takes a message in pieces
	stream := websocket.NetConn(context.WithoutCancel(r.Context()), socket, websocket.MessageBinary)
	s.ServeConn(webSocketConn{stream, socket}) //nolint:contextcheck // a connection outlives the request that it began with
}

// A webSocketConn closes without the handshake of WebSocket, for which AMQP has its own.
type webSocketConn struct {
	net.Conn

	socket *websocket.Conn
}

// Close ends the connection at once.
func (c webSocketConn) Close() error { return c.socket.CloseNow() }
