package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

// maxBody is how much of a request's body is read, in bytes.
const maxBody = 1 << 20

// readHTTP prints the requests that come in, with the id of the occurrence, and answers 204.
func readHTTP(ctx context.Context, p *printer, o options) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", o.http)
	if err != nil {
		return err
	}
	p.say("listening on http://" + listener.Addr().String())
	server := http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			p.print("http "+r.Method+" "+r.URL.Path, r.Header.Get("Idempotency-Key"), string(body), properties{})
			w.WriteHeader(http.StatusNoContent)
		}),
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // clients retry interrupted requests
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
