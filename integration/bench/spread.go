package main

import (
	"slices"
	"time"
)

// spread is how long each of many things took, in order.
type spread []time.Duration

// percentile returns what p of 100 did not exceed.
func (s spread) percentile(p int) time.Duration {
	if len(s) == 0 {
		return 0
	}
	i := (len(s)*p + 99) / 100
	return s[min(max(i, 1), len(s))-1]
}

// figures are what is told of it, under names that begin so.
func (s spread) figures(prefix string) figures {
	slices.Sort(s)
	return figures{
		{prefix + "p50_ms", ms(s.percentile(50))},
		{prefix + "p99_ms", ms(s.percentile(99))},
		{prefix + "max_ms", ms(s.percentile(100))},
	}
}
