package index

import "strings"

// targets keeps what actions are sent to, each once, however many jobs have it. A record has the number of its own; 0 is none.
type targets struct {
	texts   []string
	uses    []uint32
	number  map[string]uint32
	free    []uint32
	renamed int // how often a number was given to another text
}

func newTargets() *targets {
	return &targets{texts: []string{""}, uses: []uint32{0}, number: map[string]uint32{"": 0}}
}

// use returns the number of a text, which one more job has.
func (t *targets) use(text string) uint32 {
	n, known := t.number[text]
	switch {
	case known:
	case len(t.free) > 0:
		n = t.free[len(t.free)-1]
		t.free = t.free[:len(t.free)-1]
		t.renamed++
	default:
		n = uint32(len(t.texts))
		t.texts, t.uses = append(t.texts, ""), append(t.uses, 0)
	}
	if !known {
		t.texts[n] = strings.Clone(text) // without the document
		t.number[t.texts[n]] = n
	}
	t.uses[n]++
	return n
}

// release tells that one job less has a text.
func (t *targets) release(n uint32) {
	if n == 0 {
		return
	}
	t.uses[n]--
	if t.uses[n] == 0 {
		delete(t.number, t.texts[n])
		t.texts[n] = ""
		t.free = append(t.free, n)
	}
}
