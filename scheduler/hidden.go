package scheduler

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
)

// Hidden stands for a secret in a message.
const Hidden = "***"

// leastHidden is the length in bytes of the shortest text that is hidden:
// shorter ones are found everywhere.
const leastHidden = 4

// layers is how often escapes are undone in search of a secret: a target may
// show JSON in JSON, or a URL in HTML.
const layers = 3

// hidden is what must not be recorded of an attempt.
//
// A target that shows what it was sent may escape it in countless ways. So the
// ways are not listed: the escapes of the text are undone, layer by layer, and
// each layer is searched. Escapes that are part of the secret itself are undone
// with those of the text, so the secret is looked for as it is on each layer.
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
	h.addForms(text)
	if trimmed := strings.TrimSpace(text); trimmed != text { // as headers are sent
		h.addForms(trimmed)
	}
}

// addForms adds what text may look like on some layer.
func (h *hidden) addForms(text string) {
	sum := hex.EncodeToString([]byte(text))
	forms := []string{
		text, sum, strings.ToUpper(sum),
		strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(text)), "="),
		strings.TrimRight(base64.URLEncoding.EncodeToString([]byte(text)), "="),
	}
	for _, form := range forms {
		for range layers + 1 {
			if len(form) < leastHidden {
				break
			}
			if !slices.Contains(h.texts, form) {
				h.texts = append(h.texts, form)
			}
			if !escaped(form) {
				break
			}
			form = layer{text: form}.undo().text
		}
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
	var found []span
	l := layer{text: text}
	for range layers + 1 {
		for _, secret := range h.texts {
			found = l.find(found, secret)
		}
		from := 0
		for {
			n := strings.Index(l.text[from:], cutMark)
			if n < 0 {
				break
			}
			found = h.findCut(found, l, from, from+n)
			from += n + len(cutMark)
		}
		found = h.findCut(found, l, from, len(l.text))
		if !escaped(l.text) {
			break
		}
		l = l.undo()
	}
	return blot(text, found)
}

// findCut adds where the part of l from..to, which was cut at its end, shows
// the beginning of a secret. An escape may be cut in two.
func (h *hidden) findCut(found []span, l layer, from, to int) []span {
	part := l.text[from:to]
	for _, end := range [2]int{len(part), len(part) - halfEscape(part)} {
		for _, secret := range h.texts {
			if n := overlap(part[:end], secret); n > 0 {
				found = append(found, span{l.place(from + end - n), l.place(to)})
			}
		}
		if halfEscape(part) == 0 {
			break
		}
	}
	return found
}

// overlap returns the length of the longest beginning of secret that text ends
// with, 0 when it is too short to tell.
func overlap(text, secret string) int {
	i := max(0, len(text)-len(secret))
	for {
		n := strings.Index(text[i:], secret[:leastHidden])
		if n < 0 {
			return 0
		}
		i += n
		if strings.HasPrefix(secret, text[i:]) {
			return len(text) - i
		}
		i++
	}
}

// span is a part of a text.
type span struct{ from, to int }

// blot returns text with [Hidden] for every span. Those that overlap are one.
func blot(text string, spans []span) string {
	if len(spans) == 0 {
		return text
	}
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
	var b strings.Builder
	end := 0
	for i, s := range spans {
		if i == 0 || s.from >= end {
			b.WriteString(text[end:s.from])
			b.WriteString(Hidden)
		}
		end = max(end, s.to)
	}
	b.WriteString(text[end:])
	return b.String()
}
