package scheduler

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
	"sync"

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
// [Hidden] in its place, and in that of its usual encodings. An action hides
// what it makes of secrets, such as a token it was given for one.
func (a Attempt) Hide(text string) {
	if a.hidden != nil {
		a.hidden.add(text)
	}
}

// Hidden stands for a secret in a message.
const Hidden = "***"

// leastHidden is the length in bytes of the shortest text that is hidden:
// shorter ones are found everywhere.
const leastHidden = 4

// hidden is what must not be recorded of an attempt.
type hidden struct {
	mu    sync.Mutex
	texts []string
}

func (h *hidden) add(text string) {
	if len(text) < leastHidden {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, form := range encodings(text) {
		if !slices.Contains(h.texts, form) {
			h.texts = append(h.texts, form)
		}
	}
}

// webSafe escapes in JSON what encoding/json and others escape for web pages.
var webSafe = strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`)

// encodings are the forms in which a text comes back from a target that shows
// what it was sent.
func encodings(text string) []string {
	quoted := document.StringValue(text).String()
	quoted = quoted[1 : len(quoted)-1]
	return []string{
		text, quoted, webSafe.Replace(quoted), html.EscapeString(text),
		url.QueryEscape(text), url.PathEscape(text),
		strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(text)), "="),
		strings.TrimRight(base64.URLEncoding.EncodeToString([]byte(text)), "="),
		hex.EncodeToString([]byte(text)),
	}
}

// clean returns res without what is hidden. A response is cut at a length, so
// it may end with the beginning of a secret.
func (h *hidden) clean(res Result) Result {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.texts) == 0 {
		return res
	}
	slices.SortFunc(h.texts, func(a, b string) int { return len(b) - len(a) }) // a whole before its part
	response := h.cleanText(res.Response)
	if head, ok := strings.CutSuffix(res.Message, res.Response); ok && res.Response != "" {
		res.Message = h.cleanText(head) + response
	} else {
		res.Message = h.cleanText(res.Message)
	}
	res.Response = response
	return res
}

// cutMark is where an action says that it has left something out.
const cutMark = "…"

func (h *hidden) cleanText(text string) string {
	for _, secret := range h.texts {
		text = strings.ReplaceAll(text, secret, Hidden)
	}
	before, after, cut := strings.Cut(text, cutMark)
	if cut {
		return h.cleanEnd(before) + cutMark + h.cleanEnd(after)
	}
	return h.cleanEnd(text)
}

// cleanEnd removes the beginning of a secret from the end of text.
func (h *hidden) cleanEnd(text string) string {
	for _, secret := range h.texts {
		for n := min(len(secret)-1, len(text)); n >= leastHidden; n-- {
			if strings.HasSuffix(text, secret[:n]) {
				return text[:len(text)-n] + Hidden
			}
		}
	}
	return text
}
