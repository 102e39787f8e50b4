package storagequeue

import "testing"

// TestDecode recognizes texts in base64.
func TestDecode(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "",
		"hello":                    "hello",
		"aGVsbG8=":                 "hello",
		"aGVsbG8":                  "aGVsbG8", // without padding
		"aGVs\nbG8=":               "hello",
		"test":                     "test", // base64 of bytes that are no text
		"1234":                     "1234", // JSON
		"eyJpZCI6N30=":             `{"id":7}`,
		`{"id":7}`:                 `{"id":7}`,
		"AAECAw==":                 "AAECAw==", // base64 of control characters
		"R3LDvMOfZQo=":             "Grüße\n",
		"bGluZSAxDQpsaW5lIDIJdGFi": "line 1\r\nline 2\ttab",
	} {
		if got := string(decode(text)); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
