//go:build linux

package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// leadership says how long lanes were without a leader after their node was lost.
type leadership struct {
	mu      sync.Mutex
	took    map[string]time.Duration // by lane
	watches sync.WaitGroup
}

// lane is what a running baton needs: a stream, and the consumer that gives it out. Each has a leader of its own.
var laneParts = []string{"$JS.API.STREAM.INFO.CARILLON_TIMERS_%d", "$JS.API.CONSUMER.INFO.CARILLON_TIMERS_%d.workers"}

// lose asks the other nodes, from now on, until each lane has leaders that are not the node.
func (l *leadership) lose(ctx context.Context, t *testing.T, c *trio, lost, lanes int) {
	t.Helper()
	l.took = map[string]time.Duration{}
	began := time.Now()
	other, err := nats.Connect(c.nodes[(lost+1)%len(c.nodes)].url, nats.MaxReconnects(-1), nats.IgnoreDiscoveredServers())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(other.Close)
	for lane := range lanes {
		for _, part := range laneParts {
			subject := fmt.Sprintf(part, lane)
			l.watches.Go(func() {
				led := within(ctx, time.Minute, func() bool {
					leader := leaderOf(ctx, other, subject)
					return leader != "" && leader != c.nodes[lost].name
				})
				if led {
					l.mu.Lock()
					defer l.mu.Unlock()
					l.took[subject[len("$JS.API."):]] = time.Since(began)
				}
			})
		}
	}
}

// longest waits until all lanes have leaders, and returns how long that took.
func (l *leadership) longest(t *testing.T) (d time.Duration) {
	t.Helper()
	l.watches.Wait()
	for part, took := range l.took {
		t.Logf("%s: led elsewhere after %s", part, took.Round(time.Millisecond))
		d = max(d, took)
	}
	return d
}

// leaderOf returns who leads what a question is about; "" when nobody answers.
func leaderOf(ctx context.Context, nc *nats.Conn, subject string) string {
	ctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	m, err := nc.RequestWithContext(ctx, subject, nil)
	if err != nil {
		return ""
	}
	var answer struct {
		Cluster struct {
			Leader string `json:"leader"`
		} `json:"cluster"`
	}
	if json.Unmarshal(m.Data, &answer) != nil {
		return ""
	}
	return answer.Cluster.Leader
}
