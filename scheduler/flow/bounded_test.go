package flow_test

import (
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/flow"
)

// TestReadAll reads up to a limit, and refuses more.
func TestReadAll(t *testing.T) {
	for text, want := range map[string]bool{"": true, "1234": true, "12345": false, strings.Repeat("x", 1000): false} {
		data, err := flow.ReadAll(strings.NewReader(text), 4)
		if (err == nil) != want || want && string(data) != text {
			t.Errorf("%.10s: %q, %v", text, data, err)
		}
	}
}
