package language

import (
	"fmt"
	"slices"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/spectest"
)

// spreadRow is a line of hash.jsonl that says how many of 10,000 names have each value of a field.
type spreadRow struct {
	Kind, Field string
	Idx, Lo, Hi int
	Counts      []int
}

// TestHashSpread checks how evenly names are spread over the values of a field.
func TestHashSpread(t *testing.T) {
	for _, row := range spectest.Rows[spreadRow](t, "../../testdata/hash.jsonl") {
		if row.Kind != "property_spread" {
			continue
		}
		got := make([]int, len(row.Counts))
		for i := range 10_000 {
			got[HashOf(fmt.Sprintf("job%d", i)).Pick(HashField(row.Idx), row.Lo, row.Hi)-row.Lo]++
		}
		if !slices.Equal(got, row.Counts) {
			t.Errorf("%s: %v, not %v", row.Field, got, row.Counts)
		}
	}
}
