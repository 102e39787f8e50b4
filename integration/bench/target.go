package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// target is the HTTP server that all jobs call, in a separate process, and the calls that it has written to a file.
type target struct {
	url string

	mu       sync.Mutex
	calls    *bufio.Reader
	line     string             // incomplete
	arrivals map[string]arrival // by Idempotency-Key
}

// arrival is the calls with one key.
type arrival struct {
	first time.Time
	calls int
}

func (s *stage) startTarget(ctx context.Context) (*target, error) {
	file, err := os.Create(filepath.Join(s.dir, "calls"))
	if err != nil {
		return nil, err
	}
	url, err := s.spawnChild(ctx, roleTarget, "__target", file.Name())
	return &target{url: url, calls: bufio.NewReader(file), arrivals: map[string]arrival{}}, err
}

// read takes over the calls since the last one, and returns the number of different keys.
func (t *target) read() (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		line, err := t.calls.ReadString('\n')
		t.line += line
		if errors.Is(err, io.EOF) {
			return len(t.arrivals), nil
		}
		at, key, _ := strings.Cut(strings.TrimSuffix(t.line, "\n"), " ")
		ns, parseErr := strconv.ParseInt(at, 10, 64)
		if err = errors.Join(err, parseErr); err != nil {
			return 0, err
		}
		a, known := t.arrivals[key]
		if !known {
			a.first = time.Unix(0, ns)
		}
		a.calls++
		t.arrivals[key], t.line = a, ""
	}
}

// runTarget is the target's process. For each call it appends a line with the time in nanoseconds and the key to a file.
func runTarget(ctx context.Context, ready func(url string) error, args []string) error {
	calls, err := os.OpenFile(args[0], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{ReadHeaderTimeout: patience, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now, key := time.Now(), r.Header.Get("Idempotency-Key")
		body, err := io.ReadAll(r.Body)
		name := strings.TrimPrefix(r.URL.Path, "/")
		if err != nil || !strings.HasPrefix(key, "default/"+name+"@") || string(body) != jobBody(name) {
			key = "mixed up: " + key
		}
		if _, err := fmt.Fprintf(calls, "%d %s\n", now.UnixNano(), key); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := ready("http://" + l.Addr().String() + "/"); err != nil {
		return err
	}
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
