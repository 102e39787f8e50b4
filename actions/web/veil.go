package web

import (
	"bytes"
	"slices"
)

// veil says where a text shows secrets, and how long they can be there; see
// [scheduler.Attempt] Veiled.
type veil func(text string) (spans [][2]int, reach int)

// covers reports whether there is anything to look for. A nil veil covers nothing.
func (v veil) covers() bool {
	if v == nil {
		return false
	}
	_, reach := v("")
	return reach > 0
}

// veiledChunk is how many bytes of a body are searched at once, besides as many
// as a secret can take.
const veiledChunk = 32 << 10

// veiledSearch looks for a text in a body, but not where that shows a secret: whether it is
// there would tell what the secret has in it, to whoever may write the text and
// not read the secret.
type veiledSearch struct {
	want  []byte
	veil  veil
	held  []byte // what is not decided yet
	next  int    // the length of held at which it is
	found bool
}

// Write takes in a part of the body.
func (s *veiledSearch) Write(part []byte) (int, error) {
	if !s.found {
		s.held = append(s.held, part...)
	}
	if len(s.held) >= s.next {
		s.decide(false)
	}
	return len(part), nil
}

// decide searches what is held. A secret that has begun is seen as a whole only
// where it can take no more bytes than there are; what comes later is kept, unless
// the body has ended.
func (s *veiledSearch) decide(ended bool) {
	if s.found {
		return
	}
	spans, reach := s.veil(string(s.held))
	sure := len(s.held)
	if !ended {
		sure = max(0, sure-reach)
	}
	for from := 0; ; {
		i := bytes.Index(s.held[from:sure], s.want)
		if i < 0 {
			break
		}
		i += from
		if !slices.ContainsFunc(spans, func(span [2]int) bool { return span[0] < i+len(s.want) && i < span[1] }) {
			s.found = true
			return
		}
		from = i + 1
	}
	keep := max(0, sure-len(s.want)+1)
	for _, span := range spans {
		if span[0] < keep && keep < span[1] {
			keep = span[1] // nothing that begins in a secret counts
		}
	}
	s.held = append(s.held[:0], s.held[keep:]...)
	s.next = len(s.held) + max(veiledChunk, reach)
}
