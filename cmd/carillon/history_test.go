package main

import (
	"testing"

	"github.com/carillon-sched/carillon/store/conn"
)

// TestHistoryPerJob: 0 is no limit for people, and the default for the store.
func TestHistoryPerJob(t *testing.T) {
	for flag, want := range map[int64]int64{0: conn.Unlimited, 1: 1, 1000: 1000} {
		if got := perJob(flag); got != want {
			t.Errorf("%d is %d for the store, want %d", flag, got, want)
		}
	}
}
