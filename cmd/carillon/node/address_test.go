package node_test

import (
	"testing"

	"github.com/carillon-sched/carillon/cmd/carillon/node"
)

// TestAnonymous shows that neither a password is told nor a token, which stands where a user does.
func TestAnonymous(t *testing.T) {
	for server, want := range map[string]string{
		"nats://n1:4222":              "nats://n1:4222",
		"nats://me:secret@n1:4222":    "nats://n1:4222",
		"tls://secret@n1":             "tls://n1",
		"nats://me:sec@ret@n1:4222":   "nats://n1:4222",
		"nats://me:sec%zzret@n1":      "an invalid URL",
		"":                            "",
		"wss://secret@[::1]:443/nats": "wss://[::1]:443/nats",
	} {
		if got := node.Anonymous(server); got != want {
			t.Errorf("%s: %q, want %q", server, got, want)
		}
	}
}
