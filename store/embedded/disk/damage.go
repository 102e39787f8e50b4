package disk

import (
	"fmt"
	"strings"
)

// Damage is one thing that was found wrong.
type Damage struct {
	Stream  string `json:"stream"`
	File    string `json:"file"`           // below the data directory
	Problem string `json:"problem"`        // what is wrong, what was lost, and what was done, for people
	Kept    string `json:"kept,omitempty"` // where the file is as it was, below the data directory

	// Messages are the subjects, a hundred at most, of messages that were lost, as
	// far as they can be told. A key-value bucket has a key in each.
	Messages []string `json:"messages,omitempty"`
}

// String says all of it in a line.
func (d Damage) String() string {
	s := fmt.Sprintf("stream %s, %s: %s", d.Stream, d.File, d.Problem)
	if len(d.Messages) > 0 {
		s += "; lost: " + strings.Join(d.Messages, " ")
	}
	if d.Kept != "" {
		s += "; the file as it was: " + d.Kept
	}
	return s
}

// describe says what is wrong with the stretches of a block.
func describe(bad []stretch) (problem string, messages []string) {
	size, zeros, cut := 0, true, false
	for _, s := range bad {
		size += s.length
		zeros, cut = zeros && s.zeros, cut || s.cut
		messages = append(messages, s.subjects...)
	}
	switch {
	case zeros:
		problem = fmt.Sprintf("%d bytes are zeros", size)
	case cut:
		problem = fmt.Sprintf("it ends in the middle of a message, after %d bytes of it", bad[len(bad)-1].length)
	default:
		problem = fmt.Sprintf("%d bytes cannot be read", size)
	}
	return problem + ", and were taken out; what was removed in them may be back", messages[:min(len(messages), subjectsKept)]
}
