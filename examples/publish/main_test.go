package main

import (
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/cmd/carillon/node"
	"github.com/carillon-sched/carillon/cmd/carillon/node/nodetest"
)

func TestPublish(t *testing.T) {
	s := nodetest.Start(t, node.Config{}, nil)
	server, target := s.NATS, s.API+"/echo"
	var out strings.Builder
	if err := publish(&out, server, target); err != nil {
		t.Fatal(err)
	}
	t.Log(out.String())
	lines := strings.Split(strings.ReplaceAll(out.String(), "\n\n", "\n"), "\n")
	for i, want := range []string{"carillon.spec-result.accepted.default.published-", `"verdict":"accepted"`, "carillon.history.default.published-", `"status":"Completed"`} {
		if i >= len(lines) || !strings.Contains(lines[i], want) {
			t.Errorf("line %d does not contain %s", i+1, want)
		}
	}

	out.Reset()
	if err := publish(&out, server, "ftp://nowhere"); err == nil || !strings.Contains(out.String(), "rejected") {
		t.Errorf("a spec with a bad URI: got %v and %s", err, out.String())
	}
}
