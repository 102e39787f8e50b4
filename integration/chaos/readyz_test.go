package chaos

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestReadyzTells takes the servers of a cluster away, in several ways: /readyz says each time what it is that is waited for.
func TestReadyzTells(t *testing.T) {
	t.Parallel()
	ctx := limited(t)
	c := newTrio(ctx, t)
	a := newAPI(t, c.serveAt(ctx, "only").ready(ctx, t).HTTP)
	a.client.Timeout = 10 * time.Second
	js := c.connect(ctx, t)
	await(ctx, t, "every stream has its copies", patience, func() bool { return whole(ctx, js) })
	said := ""
	ready := func(words ...string) func() bool {
		return func() bool {
			err := a.do(ctx, "GET", "/readyz", nil, nil)
			said = fmt.Sprint(err)
			for _, word := range words {
				if err == nil || !strings.Contains(said, word) {
					return false
				}
			}
			return err == nil || len(words) > 0
		}
	}
	expect := func(what string, words ...string) {
		t.Helper()
		began := time.Now()
		if !within(ctx, patience, ready(words...)) {
			t.Fatalf("%s: it says %s, and not %q", what, said, words)
		}
		t.Logf("%s: within %s: %s", what, time.Since(began).Round(100*time.Millisecond), said)
	}
	expect("all is well")
	c.kill(0)
	c.kill(1)
	expect("two servers are killed", "has no leader: half of", "start the NATS servers that are away")
	c.kill(2)
	expect("all are killed", "not connected to NATS at ", c.nodes[0].url, c.nodes[2].url, " since ", "connection refused")
	for i := range c.nodes {
		c.start(ctx, i)
	}
	expect("all are back")
	for _, n := range c.nodes {
		n.process.signal(syscall.SIGSTOP)
	}
	expect("all hang", "NATS at ", " since ", "hangs") // the scheduler may have left the server for another by then
	if err := a.put(ctx, "one", newJob("http://127.0.0.1:1", time.Now().Add(time.Hour)).document()); err == nil ||
		!strings.Contains(err.Error(), "NATS at ") || strings.Contains(err.Error(), "deadline") {
		t.Errorf("a request is refused with %v", err)
	}
	for _, n := range c.nodes {
		n.process.signal(syscall.SIGCONT)
	}
	expect("all go on")
	await(context.WithoutCancel(ctx), t, "it takes jobs", patience, func() bool {
		return a.put(ctx, "one", newJob("http://127.0.0.1:1", time.Now().Add(time.Hour)).document()) == nil
	})
}
