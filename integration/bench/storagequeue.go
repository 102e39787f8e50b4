package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/carillon-sched/carillon/actions/builtin"
	emulator "github.com/carillon-sched/carillon/integration/emulator/storagequeue"
)

// toStorageQueue is a queue of the storage queue emulator. The service tells
// in whole seconds when a message came, so requests are noted before the
// emulator has them. Each message is its occurrence's id.
func toStorageQueue(ctx context.Context, st *stage) (*target, error) {
	handler, err := emulator.Open(emulator.Config{Keys: emulator.Lenient, AutoCreate: true})
	if err != nil {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, handler.Close())
	}
	seen := st.sink.here() // it does not come over the sink's process
	server := &http.Server{Handler: &watched{handler, seen}, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(l) }() // until close
	t := newTarget(seen)
	t.args = []string{"--storage-queue", "*=http://" + l.Addr().String() + "/{name}"}
	t.options = []option{func(c *builtin.Config) error {
		c.StorageQueues.Default = "http://" + l.Addr().String() + "/{name}"
		return nil
	}}
	t.action = func(key string) string {
		return fmt.Sprintf(`{"type":"storageQueue","queueMessage":{"storageAccount":"benchmark","queueName":%q,"sasToken":"TOKEN",
			"message":%q}}`, queueName, key)
	}
	t.close = func() error { return errors.Join(server.Close(), handler.Close()) }
	return t, nil
}

// watched is an emulator whose stored messages are noted.
type watched struct {
	emulator http.Handler
	sink     *sink
}

// ServeHTTP lets the emulator answer, and notes when the message that it has
// stored came.
func (h *watched) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now := time.Now()
	sent, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(sent))
	answer := &statusWriter{ResponseWriter: w}
	h.emulator.ServeHTTP(answer, r)
	if answer.status == http.StatusCreated {
		_, text, _ := bytes.Cut(sent, []byte("<MessageText>"))
		text, _, _ = bytes.Cut(text, []byte("</MessageText>"))
		h.sink.note(string(text), now)
	}
}

// statusWriter keeps the status of an answer.
type statusWriter struct {
	http.ResponseWriter

	status int
}

// WriteHeader keeps the status.
func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}
