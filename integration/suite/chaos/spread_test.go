package chaos

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// The load of [TestLeadersSpread], and what its schedulers wait for.
const (
	spreadJobs   = 60 // of every second
	unevenFor    = 3 * time.Second
	spreadWithin = 20 * unevenFor // those that were moved before the restarts are left alone for half of it
	steadyFor    = 3 * unevenFor
)

// TestLeadersSpread restarts the servers of a cluster one after the other, as an upgrade of NATS does, which leaves the last
// one without leaders. The schedulers bring them back, nobody notices, and then nothing moves any more.
func TestLeadersSpread(t *testing.T) {
	t.Parallel()
	ctx := limited(t)
	still := watchStillness(t)
	target := newSink(t, nil)
	c := newTrio(ctx, t)
	var crew []*process
	for _, region := range []string{"a", "b", "c"} {
		crew = append(crew, c.serveAt(ctx, region, "--spread-leaders", unevenFor.String()))
	}
	a := newAPI(t, crew[0].ready(ctx, t).HTTP)
	js := c.connect(ctx, t)
	settle := func(what string) {
		t.Helper()
		await(ctx, t, what, patience, func() bool { return whole(ctx, js) })
	}
	settle("every stream has its copies")
	t.Logf("at first: %s", tally(led(ctx, t, js)))
	await(ctx, t, "the first leaders are spread", patience, func() bool { return even(led(ctx, t, js)) })
	for i := range c.nodes {
		c.nodes[i].process.stop(ctx, t)
		c.start(ctx, i)
		await(ctx, t, "JetStream has a leader", patience, func() bool { return c.leads(ctx) })
		settle("every stream has its copies again")
	}
	before := led(ctx, t, js)
	t.Logf("after the restarts: %s", tally(before))

	start := time.Now().UTC().Truncate(time.Second).Add(2 * time.Second)
	jobs := map[string]job{}
	for i := range spreadJobs {
		jobs[fmt.Sprintf("second-%d", i)] = newJob(target.url, start.Add(time.Duration(i)*10*time.Millisecond)).every(1, "second")
	}
	a.putAll(ctx, t, jobs)
	began := time.Now()
	await(ctx, t, "the leaders are spread", spreadWithin+patience, func() bool { return even(led(ctx, t, js)) })
	after := led(ctx, t, js)
	t.Logf("within %s: %s", time.Since(began).Round(100*time.Millisecond), tally(after))
	pause(ctx, steadyFor)
	if again := led(ctx, t, js); !maps.Equal(again, after) {
		t.Errorf("leaders still move: %s, and then %s", tally(after), tally(again))
	}

	ended := time.Now()
	allowed := bound + still.sum()
	var duties []duty
	for name, j := range jobs {
		for at := range j.occurrences(ended) {
			duties = append(duties, due("default/"+name, at, at.Add(allowed)))
		}
	}
	records := follow(ctx, t, js)
	t.Cleanup(func() {
		if t.Failed() {
			missing := slices.DeleteFunc(duties, func(d duty) bool { return records.has(d.key) })
			t.Logf("%d have no record, such as %v", len(missing), missing[:min(len(missing), 5)])
		}
	})
	await(ctx, t, "a record of everything that was due", patience, func() bool {
		return !slices.ContainsFunc(duties, func(d duty) bool { return !records.has(d.key) })
	})
	v := judge(t, duties, target.seen())
	if v.duplicates > 0 {
		t.Errorf("%d calls were repeated", v.duplicates)
	}
	moves := 0
	for _, p := range crew {
		moves += strings.Count(string(p.tail(1<<20)), "one has moved")
	}
	t.Logf("%d leaders moved in all; %d occurrences due, %d repeated, late at most %s", moves, len(duties), v.duplicates,
		v.worst.Round(time.Millisecond))
}

// led returns who leads each stream and consumer, by kind and name. Those that do not answer have no leader.
func led(ctx context.Context, t *testing.T, js jetstream.JetStream) map[string]string {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	all := map[string]string{}
	for name, leader := range leaders(ctx, js) {
		kind := "streams"
		if strings.HasPrefix(name, "CARILLON_TIMERS_") {
			kind = "lanes"
		}
		all[kind+" "+name] = leader
		if kind == "lanes" || name == specsStream || name == eventsStream {
			all["consumers "+name] = ""
			if consumer, err := js.Consumer(ctx, name, "workers"); err == nil {
				all["consumers "+name] = consumer.CachedInfo().Cluster.Leader
			}
		}
	}
	return all
}

// tally counts leaders by kind and server: "lanes n1:2 n2:1 n3:1, …".
func tally(led map[string]string) string {
	counts := map[string]map[string]int{}
	for name, leader := range led {
		kind, _, _ := strings.Cut(name, " ")
		if counts[kind] == nil {
			counts[kind] = map[string]int{"n1": 0, "n2": 0, "n3": 0}
		}
		counts[kind][leader]++
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, kind)
		for _, server := range slices.Sorted(maps.Keys(counts[kind])) {
			parts = append(parts, fmt.Sprintf("%s:%d", server, counts[kind][server]))
		}
	}
	return strings.Join(parts, " ")
}

// even reports whether no server leads two more of a kind than another one.
func even(led map[string]string) bool {
	counts := map[string]map[string]int{}
	for name, leader := range led {
		kind, _, _ := strings.Cut(name, " ")
		if counts[kind] == nil {
			counts[kind] = map[string]int{"n1": 0, "n2": 0, "n3": 0}
		}
		if leader == "" {
			return false
		}
		counts[kind][leader]++
	}
	for _, servers := range counts {
		all := slices.Collect(maps.Values(servers))
		if slices.Max(all)-slices.Min(all) > 1 {
			return false
		}
	}
	return len(counts) == 3
}
