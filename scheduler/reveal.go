package scheduler

import (
	"errors"
	"fmt"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Reveal returns the text of a secret, "" for none. What was revealed is kept
// out of the attempt's record. The error is one for the attempt's message.
func (a Attempt) Reveal(s document.Secret) (string, error) {
	text, literal := s.Literal()
	switch {
	case s.Locked():
		return "", errors.New("a secret of the job cannot be opened: this process does not have the key it was sealed with")
	case literal:
	case a.Shared == nil:
		return "", fmt.Errorf("shared secret %q cannot be read here", s.Ref())
	default:
		var err error
		if text, err = a.Shared(s.Ref()); err != nil {
			return "", fmt.Errorf("shared secret %q: %w", s.Ref(), err)
		}
	}
	a.Hide(text)
	return text, nil
}

// Hide keeps a text out of the attempt's record: its message and response show
// *** in its place, also where it is escaped as in JSON, HTML or a URL, or
// encoded in base64 or hexadecimal. An action hides what it makes of secrets,
// such as a token it was given for one.
func (a Attempt) Hide(text string) {
	if a.Redact != nil {
		a.Redact(text)
	}
}
