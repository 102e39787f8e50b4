package secrets

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"sync"

	"github.com/carillon-sched/carillon/scheduler"
)

// Redacted replaces a secret in a message.
const Redacted = "***"

// minLength is the minimum length in bytes of a redacted text: shorter ones occur everywhere.
const minLength = 4

// maxDecodings is the maximum number of escape layers: a target may show JSON in JSON, or a URL in HTML.
const maxDecodings = 3

// Redactor redacts the secrets of an attempt. The zero Redactor knows no secrets. It is safe for concurrent use.
//
// A target that echoes a request may escape it in countless ways. The Redactor therefore decodes the text, layer by
// layer, and searches each layer. Decoding also affects escapes that are part of the secret, so it searches for the
// secret as it appears on each layer.
type Redactor struct {
	mu    sync.Mutex
	forms []string // forms of the secrets on all layers
}

// Add redacts a text from results from now on, if it is long enough.
func (r *Redactor) Add(text string) {
	if len(text) < minLength {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.addForms(text)
	if trimmed := strings.TrimSpace(text); trimmed != text { // as headers are sent
		r.addForms(trimmed)
	}
}

// addForms adds the forms that text may have on any layer.
func (r *Redactor) addForms(text string) {
	sum := hex.EncodeToString([]byte(text))
	encoded := []string{
		text, sum, strings.ToUpper(sum),
		strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(text)), "="),
		strings.TrimRight(base64.URLEncoding.EncodeToString([]byte(text)), "="),
	}
	for _, form := range encoded {
		for range maxDecodings + 1 {
			if len(form) < minLength {
				break
			}
			if !slices.Contains(r.forms, form) {
				r.forms = append(r.forms, form)
			}
			if !escaped(form) {
				break
			}
			form = layer{text: form}.decode().text
		}
	}
}

// Clean returns a result with every secret replaced by [Redacted]. Responses are truncated, so a result may end with
// the prefix of a secret.
func (r *Redactor) Clean(res scheduler.Result) scheduler.Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.forms) == 0 {
		return res
	}
	response := r.cleanText(res.Response)
	if head, ok := strings.CutSuffix(res.Message, res.Response); ok && res.Response != "" {
		res.Message = r.cleanText(head) + response
	} else {
		res.Message = r.cleanText(res.Message)
	}
	res.Summary, res.Headers, res.Response = r.cleanText(res.Summary), r.cleanText(res.Headers), response
	return res
}

// ellipsis marks text that an action has omitted.
const ellipsis = "…"

// escapes is the maximum number of bytes per secret byte in a text: \u0061 with each character percent-encoded.
const escapes = 18

// Veiled returns the ordered spans from..to of a text that show a secret, and the maximum length of one in bytes; see
// [scheduler.Attempt].
func (r *Redactor) Veiled(text string) (spans [][2]int, reach int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, form := range r.forms {
		reach = max(reach, escapes*len(form))
	}
	if reach == 0 {
		return nil, 0
	}
	for _, m := range joined(r.search(text)) {
		spans = append(spans, [2]int{m.from, m.to})
	}
	return spans, reach
}

func (r *Redactor) cleanText(text string) string { return redact(text, r.search(text)) }

// search returns the ranges that show secrets, unordered.
func (r *Redactor) search(text string) []match {
	var found []match
	l := layer{text: text}
	for range maxDecodings + 1 {
		for _, form := range r.forms {
			found = l.find(found, form)
		}
		from := 0
		for {
			n := strings.Index(l.text[from:], ellipsis)
			if n < 0 {
				break
			}
			found = r.findTruncated(found, l, from, from+n)
			from += n + len(ellipsis)
		}
		found = r.findTruncated(found, l, from, len(l.text))
		if !escaped(l.text) {
			break
		}
		l = l.decode()
	}
	return found
}

// findTruncated adds the ranges where the truncated part from..to of l ends with the prefix of a secret. The truncation
// may split an escape.
func (r *Redactor) findTruncated(found []match, l layer, from, to int) []match {
	part := l.text[from:to]
	partial := partialEscape(part)
	for _, end := range [2]int{len(part), len(part) - partial} {
		for _, form := range r.forms {
			if n := overlap(part[:end], form); n > 0 {
				found = append(found, match{l.origin(from + end - n), l.origin(to)})
			}
		}
		if partial == 0 {
			break
		}
	}
	return found
}

// overlap returns the length of the longest prefix of secret at the end of text, 0 if it is too short to be
// significant.
func overlap(text, secret string) int {
	i := max(0, len(text)-len(secret))
	for {
		n := strings.Index(text[i:], secret[:minLength])
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

// match is a range of a text that shows a secret.
type match struct{ from, to int }

// redact replaces every match in text by [Redacted]. Overlapping matches become one.
func redact(text string, matches []match) string {
	if len(matches) == 0 {
		return text
	}
	var b strings.Builder
	end := 0
	for _, m := range joined(matches) {
		b.WriteString(text[end:m.from])
		b.WriteString(Redacted)
		end = m.to
	}
	b.WriteString(text[end:])
	return b.String()
}

// joined returns the matches in order, with overlaps merged.
func joined(matches []match) []match {
	slices.SortFunc(matches, func(a, b match) int { return a.from - b.from })
	all := matches[:0]
	for _, m := range matches {
		if n := len(all); n > 0 && m.from < all[n-1].to {
			all[n-1].to = max(all[n-1].to, m.to)
			continue
		}
		all = append(all, m)
	}
	return all
}
