package mutate

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// Mutants differ from their seeds, which stay as they are, and come again with the
// same random numbers.
func TestMutant(t *testing.T) {
	seeds := [][]byte{[]byte(`{"a": [1, 2, 3]}`), []byte("GET / HTTP/1.1\r\n\r\n"), {}}
	m := &Mutator{Seeds: seeds[:2], Words: []string{"[", "\x00"}, Least: 1, Most: 6, Repeats: 100}
	once, twice := rand.New(rand.NewPCG(1, 2)), rand.New(rand.NewPCG(1, 2))
	same := 0
	for range 1000 {
		b := m.Mutant(once)
		if again := m.Mutant(twice); !bytes.Equal(b, again) {
			t.Fatalf("%q and then %q", b, again)
		}
		if bytes.Equal(b, seeds[0]) || bytes.Equal(b, seeds[1]) {
			same++
		}
	}
	if same > 20 { // a byte may become itself
		t.Errorf("%d of 1,000 mutants are their seeds", same)
	}
	if string(seeds[0]) != `{"a": [1, 2, 3]}` {
		t.Errorf("the seed became %q", seeds[0])
	}
	m.Seeds = seeds[2:]
	if b := m.Mutant(once); len(b) > 0 {
		t.Errorf("of nothing came %q", b)
	}
}
