package main

import (
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestServesStartTogether starts three schedulers while a cluster forms, each beside a server of its own: two before there is
// a quorum, one before the last server. None ends, each stream is made once and as it was asked for, and one that asks for
// something else is refused.
func TestServesStartTogether(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	wanted := []string{"--replicas", "3", "--lanes", "4"}
	serveBeside := func(url string, more ...string) *serving { return serveOn(t, append(more, "--nats-url", url)...) }
	first := c.start(0)
	crew := []*serving{serveBeside(first, wanted...), serveBeside(first, wanted...)}
	second := c.start(1)
	crew = append(crew, serveBeside(second, wanted...))
	third := c.start(2)
	for _, s := range crew {
		s.untilReady(t)
	}
	for _, test := range []struct {
		args []string
		says string
	}{
		{[]string{"--lanes", "5"}, "lanes: 5 was asked for, but this store was created with 4, which is fixed"},
		{[]string{"--replicas", "1"}, "replicas: 1 was asked for, but stream KV_carillon-settings has 3"},
	} {
		err := <-serveBeside(third, test.args...).ended
		if terminal.ExitCode(err) != terminal.ExitConflict || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%v: %v", test.args, err)
		}
	}
	nc := must.Get(nats.Connect(third))(t)
	defer nc.Close()
	js := must.Get(jetstream.New(nc))(t)
	lanes := 0
	streams := js.ListStreams(t.Context())
	for info := range streams.Info() {
		if info.Config.Replicas != 3 {
			t.Errorf("%s has %d replicas", info.Config.Name, info.Config.Replicas)
		}
		if strings.HasPrefix(info.Config.Name, "CARILLON_TIMERS_") {
			lanes++
			if info.State.Consumers != 1 {
				t.Errorf("%s has %d consumers", info.Config.Name, info.State.Consumers)
			}
		}
	}
	if streams.Err() != nil || lanes != 4 {
		t.Errorf("%d lanes, %v", lanes, streams.Err())
	}
	for _, s := range crew {
		s.end(t)
	}
}
