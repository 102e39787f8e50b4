package rest

import (
	"testing"

	"github.com/carillon-sched/carillon/scheduler/api"
)

// TestNumberWithoutLimit reads a number whose parameter has a least value only.
func TestNumberWithoutLimit(t *testing.T) {
	p := &api.Param{Name: "after", Kind: api.Number, Min: 1}
	if n, err := parameter(p, "5"); err != nil || n != 5 {
		t.Errorf("got %v, %v", n, err)
	}
	if n, err := parameter(p, "0"); err == nil {
		t.Errorf("0 is read as %v", n)
	}
}
