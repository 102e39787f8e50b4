package climb

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// sink keeps the compiler from leaving out what is measured.
var sink [][]byte

// waste costs time and memory with the square of the a's that a text begins with.
func waste(s string) {
	n := len(s) - len(strings.TrimLeft(s, "a"))
	for range n {
		sink = append(sink[:0], bytes.Repeat([]byte(s[:n]), 8))
	}
}

// TestClimb shows that it finds what costs more than its seeds, and that a test fails which allows less.
func TestClimb(t *testing.T) {
	t.Setenv(FuzzTime, "1s")
	seed := strings.Repeat("a", 50) + "b"
	before := Measure(func() { waste(seed) })
	worst := Climb[string]{
		Seeds: []string{seed, "b"}, Mutate: Text{Tokens: []string{"a", "b"}, Most: 300}.Mutate, Do: waste,
	}.Run(t)
	if n := strings.IndexByte(worst.Largest.Input+"b", 'b'); worst.Largest.Allocated < 10*before.Allocated || n < 150 {
		t.Errorf("%d bytes allocated, the seed %d: not much of a climb", worst.Largest.Allocated, before.Allocated)
	}
	for _, test := range []struct {
		name      string
		processor time.Duration
		allocated uint64
		want      string
	}{
		{"enough", time.Hour, 1 << 40, ""},
		{"too little time", 1, 1 << 40, "of processor time"},
		{"too little memory", time.Hour, 1 << 10, "allocated"},
	} {
		got := &failure{TB: t}
		worst.Slowest.Processor = max(worst.Slowest.Processor, time.Millisecond)
		worst.Check(got, test.processor, test.allocated)
		if test.want == "" != (got.text == "") || !strings.Contains(got.text, test.want) {
			t.Errorf("%s: %q", test.name, got.text)
		}
	}
}

// failure is a test that takes a note of its failure.
type failure struct {
	testing.TB

	text string
}

func (f *failure) Helper() {}

func (f *failure) Errorf(format string, _ ...any) { f.text += format }

// TestMeasure shows that time and memory are counted.
func TestMeasure(t *testing.T) {
	cost := Measure(func() {
		for end := time.Now().Add(50 * time.Millisecond); time.Now().Before(end); {
			sink = [][]byte{make([]byte, 1<<20)}
		}
	})
	if cost.Processor <= 0 || cost.Allocated < 1<<20 {
		t.Errorf("%+v", cost)
	}
}

// TestExcerpt shows that a long input is not logged in full.
func TestExcerpt(t *testing.T) {
	if got := excerpt("a\n"); got != `"a\n"` {
		t.Error(got)
	}
	if got := excerpt(strings.Repeat("x", 1<<20)); len(got) > 5000 || !strings.HasSuffix(got, "(1048578 bytes)") {
		t.Errorf("%d bytes", len(got))
	}
}
