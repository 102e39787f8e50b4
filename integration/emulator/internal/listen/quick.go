package listen

import (
	"net"
	"syscall"
)

// Quick returns a listener whose connections acknowledge received data immediately, if the system supports it:
// on Linux. A client that writes again before it has an acknowledgement, with Nagle's algorithm on, waits for
// it; the delayed ACK of RFC 1122, section 4.2.3.2, would hold it back for up to 40 ms.
func Quick(listener net.Listener) net.Listener { return quick{listener} }

type quick struct{ net.Listener }

// Accept returns the next connection.
func (l quick) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	socket, ok := conn.(*net.TCPConn)
	if !ok {
		return conn, nil
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return conn, nil //nolint:nilerr // it works, if not as quickly
	}
	return &quickConn{socket, raw}, nil
}

type quickConn struct {
	*net.TCPConn

	raw syscall.RawConn
}

// Read reads and acknowledges.
func (c *quickConn) Read(b []byte) (int, error) {
	n, err := c.TCPConn.Read(b)
	if n > 0 {
		_ = c.raw.Control(acknowledge) // which only costs time if it fails
	}
	return n, err
}
