package embedded

import (
	"context"
	"errors"
	"os"

	"github.com/nats-io/nats-server/v2/server"
)

// Room is how many bytes must be free in the data directory for a start to be
// of use: a few blocks, and what the server writes when it stops.
const Room = 8 << 20

// errClosed says that a server was closed and is not started again.
var errClosed = errors.New("the embedded NATS server was closed")

// Healthy returns nil while the server takes writes, or what is wrong: a write
// has failed, and the stream is shut until a [Server.Restart].
func (s *Server) Healthy() error {
	status := s.current().Healthz(&server.HealthzOptions{})
	if status.Error == "" {
		return nil
	}
	return &StartError{Reason: status.Error}
}

// Restart stops the server and starts it again, as a stream needs that was shut
// because of a failed write. It does nothing but return a [*DirError] as long as
// the directory has no [Room]. The addresses stay; connections, those of
// [Server.Connect] among them, come back by themselves. A restart that fails
// leaves no server running, and can be repeated.
func (s *Server) Restart(ctx context.Context) error {
	s.restarting.Lock()
	defer s.restarting.Unlock()
	if s.closed {
		return errClosed
	}
	if err := checkRoom(s.cfg.Dir, Room); err != nil {
		return err
	}
	s.stop()
	return s.start(ctx)
}

// checkRoom makes sure that so many bytes can be written below a directory. It
// writes them: what a file system has free says nothing of quotas.
func checkRoom(dir string, room int) error {
	f, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return dirError(dir, err)
	}
	defer os.Remove(f.Name())
	block := make([]byte, 1<<20)
	for left := room; left > 0 && err == nil; left -= len(block) {
		_, err = f.Write(block[:min(left, len(block))])
	}
	if err == nil {
		err = f.Sync() // some file systems find out late
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return dirError(dir, err)
	}
	return nil
}
