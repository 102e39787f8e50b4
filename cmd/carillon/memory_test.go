package main

import (
	"math"
	"runtime/debug"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

func TestLimitMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	none := func() (uint64, error) { return 0, memlimit.ErrNoLimit }
	for name, test := range map[string]struct {
		limit memlimit.Provider
		env   string
		want  int64
	}{
		"a container of 1,000 MB":            {memlimit.Limit(1_000_000_000), "", 900_000_000},
		"no container":                       {none, "", math.MaxInt64},
		"a container without limit":          {memlimit.Limit(math.MaxUint64), "", math.MaxInt64},
		"a container and a limit of its own": {memlimit.Limit(1_000_000_000), "500MiB", math.MaxInt64}, // as Go has read it
	} {
		debug.SetMemoryLimit(math.MaxInt64)
		limitMemory(func(name string) (string, bool) { return test.env, name == "GOMEMLIMIT" && test.env != "" }, test.limit)
		if got := debug.SetMemoryLimit(-1); got != test.want {
			t.Errorf("%s: got %d, want %d", name, got, test.want)
		}
	}
}
