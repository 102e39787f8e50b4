package main

import (
	"reflect"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
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

// TestHistoryPageNamesMembers: the page has every member of a record.
func TestHistoryPageNamesMembers(t *testing.T) {
	page := read(t, pageFile("records"))
	for f := range reflect.TypeFor[scheduler.RecordForm]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("it does not tell of %s", name)
		}
	}
}
