package control

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
)

// TestCensus has what is known of jobs, by their batons and definitions.
func TestCensus(t *testing.T) {
	key := func(name string) scheduler.Key { return scheduler.Key{Collection: "c", Job: name} }
	others := []scheduler.Key{key("none"), {Collection: "co", Job: "wn"}, {Collection: "own", Job: "c"}}
	for range 100 { // hashes differ each time
		c := newCensus()
		c.count(key("detached"), false)
		c.count(key("both"), false)
		c.count(key("own"), true)
		c.count(key("both"), true)
		c.count(key("detached"), false)
		c.count(key("both"), false)
		c.order()
		for _, k := range others {
			if c.define(k) {
				t.Errorf("%s has a baton", k)
			}
		}
		if slices.Contains(c.defined, true) || len(c.defined) != 3 {
			t.Errorf("%v has definitions", c.defined)
		}
		for name, want := range map[string]bool{"own": true, "both": true, "detached": false} {
			if own := c.define(key(name)); own != want {
				t.Errorf("%s has one of its own: %t", name, own)
			}
			if at, ok := c.find(key(name)); !ok || !c.defined[at] {
				t.Errorf("%s: %t, not defined", name, ok)
			}
		}
		if slices.Contains(c.defined, false) {
			t.Errorf("in the end: %v", c.defined)
		}
	}
	empty := newCensus()
	empty.order()
	if empty.define(key("own")) {
		t.Error("there is a job in an empty census")
	}
}

// TestRoll has names come back as they went in, so many at a time.
func TestRoll(t *testing.T) {
	for n := range 8 {
		var r roll
		var want []scheduler.Key
		for i := range n {
			k := scheduler.Key{Collection: fmt.Sprint("c", i%2), Job: fmt.Sprint("j-_", i)}
			want = append(want, k)
			r.add(k)
		}
		var got []scheduler.Key
		for chunk := range r.chunks(3) {
			if len(chunk) > 3 || len(chunk) < min(3, n-len(got)) {
				t.Errorf("of %d: %d at a time", n, len(chunk))
			}
			got = append(got, chunk...)
		}
		if !slices.Equal(got, want) || r.len != n {
			t.Errorf("%d: %v, want %v", r.len, got, want)
		}
	}
}

// TestCensusMemory shows that an audit keeps few bytes for each job: a map of the
// names themselves takes four times as many.
func TestCensusMemory(t *testing.T) {
	const jobs, most = 200_000, 40 // bytes
	var before, after runtime.MemStats
	runtime.GC() //nolint:revive // what is live is measured
	runtime.ReadMemStats(&before)
	c, r := newCensus(), &roll{}
	for i := range jobs {
		k := scheduler.Key{Collection: "default", Job: fmt.Sprintf("job-%07d", i)}
		c.count(k, true)
		r.add(k)
	}
	c.order()
	runtime.GC() //nolint:revive // as above
	runtime.ReadMemStats(&after)
	if each := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / jobs; each > most {
		t.Errorf("%d bytes for each of %d jobs", each, jobs)
	}
	runtime.KeepAlive(c)
	runtime.KeepAlive(r)
}
