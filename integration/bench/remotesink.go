package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// remoteSink asks the sink's process what has arrived.
type remoteSink struct {
	ctx context.Context //nolint:containedctx // of the stage, for what is asked in passing
	url string

	mu    sync.Mutex
	known int       // keys that had arrived
	asked time.Time // when that was
	read  int       // calls that were read
}

// askAgain is how old an answer may be: asking costs the sink time that the calls need.
const askAgain = 20 * time.Millisecond

// distinct is how many keys have arrived.
func (r *remoteSink) distinct() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.asked) < askAgain {
		return r.known
	}
	err := r.get(r.ctx, pathCount, func(body io.Reader) error {
		return readLines(body, func(line string) (err error) {
			r.known, err = strconv.Atoi(line)
			return err
		})
	})
	if err == nil {
		r.asked = time.Now()
	}
	return r.known
}

// collect calls note with all calls that it has not been called with.
func (r *remoteSink) collect(ctx context.Context, note func(key string, at time.Time)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.get(ctx, pathArrivals+"?from="+strconv.Itoa(r.read), func(body io.Reader) error {
		return readLines(body, func(line string) error {
			at, key, _ := strings.Cut(line, " ")
			ns, err := strconv.ParseInt(at, 10, 64)
			if err != nil {
				return fmt.Errorf("the sink's answer: %w", err)
			}
			r.read++
			note(key, time.Unix(0, ns))
			return nil
		})
	})
}

func (r *remoteSink) get(ctx context.Context, path string, read func(io.Reader) error) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(r.url, "/")+path, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the sink answered %s", resp.Status)
	}
	return read(resp.Body)
}
