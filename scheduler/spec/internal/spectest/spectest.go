// Package spectest reads the test vectors of the schedule languages.
package spectest

import (
	"encoding/json"
	"os"
	"testing"
)

// Rows reads a file of JSON lines.
func Rows[T any](t *testing.T, path string) []T {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var list []T
	for lines := json.NewDecoder(file); lines.More(); {
		var row T
		if err := lines.Decode(&row); err != nil {
			t.Fatal(err)
		}
		list = append(list, row)
	}
	return list
}
