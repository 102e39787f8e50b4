package terminal

import (
	"bytes"
	"testing"
)

func TestWidth(t *testing.T) {
	for columns, want := range map[string]int{"": 80, "132": 132, "wide": 80, "-1": 80} {
		term := &Terminal{Out: &bytes.Buffer{}, Lookup: func(string) (string, bool) { return columns, columns != "" }}
		if got := term.Width(); got != want {
			t.Errorf("COLUMNS=%s: %d, want %d", columns, got, want)
		}
	}
}
