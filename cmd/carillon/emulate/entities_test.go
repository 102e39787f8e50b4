package emulate

import "testing"

// TestPosition shows the places of mistakes in a file.
func TestPosition(t *testing.T) {
	raw := []byte("{\n  \"a\": }\n")
	for _, test := range []struct {
		offset       int64
		line, column int
	}{
		{0, 1, 1},
		{1, 1, 1},
		{3, 2, 1},
		{10, 2, 8}, // the brace
		{12, 3, 1},
		{99, 3, 1},
	} {
		if line, column := position(raw, test.offset); line != test.line || column != test.column {
			t.Errorf("%d: %d:%d, want %d:%d", test.offset, line, column, test.line, test.column)
		}
	}
}
