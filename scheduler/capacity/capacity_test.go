package capacity

import (
	"math"
	"testing"
)

// TestNeeds compares plans with what they must not violate, whatever the figures are.
func TestNeeds(t *testing.T) {
	t.Parallel()
	f, err := Measured()
	if err != nil {
		t.Fatal(err)
	}
	before := Plan{}
	for _, runs := range []float64{0, 1, 45, 300, 500, 1900, 2000, 1e4, 1e5} {
		for _, replicas := range []int{1, 3, 5} {
			l := Load{Jobs: 1e6, Runs: runs, Burst: 1e5, Attempt: 2, History: 3600, PerJob: 100, Replicas: replicas}
			p, cores := f.Needs(l), f.Cores(l)
			switch {
			case p.Servers.Number < replicas || p.Serve.Number < 2:
				t.Errorf("%+v: %d servers, %d serve", l, p.Servers.Number, p.Serve.Number)
			case float64(p.Servers.Number*p.Servers.Cores) < cores.Server/Usage || float64(p.Serve.Number*p.Serve.Cores) < cores.Serve/Usage:
				t.Errorf("%+v: too few processors: %+v for %+v", l, p, cores)
			case p.Servers.Cores > serverCores || p.Serve.Cores > serveCores:
				t.Errorf("%+v: too large: %+v", l, p)
			case float64((p.Serve.Number-1)*p.Serve.Cores) < cores.Serve || float64(p.Concurrency*(p.Serve.Number-1)) < runs*l.Attempt:
				t.Errorf("%+v: too little when one fails: %+v", l, p)
			case p.BurstSeconds < l.Burst*l.Attempt/float64(p.Concurrency*p.Serve.Number):
				t.Errorf("%+v: %d attempts at once", l, p.Concurrency)
			case p.Records > l.Jobs*l.PerJob || p.Records > math.Ceil(runs*l.History):
				t.Errorf("%+v: %g records", l, p.Records)
			case replicas == 1 && (p.Servers.Number*p.Servers.Cores < before.Servers.Number*before.Servers.Cores || p.Lanes < before.Lanes):
				t.Errorf("%+v: fewer than for less: %+v", l, p)
			}
			if replicas == 1 {
				before = p
			}
		}
	}
}
