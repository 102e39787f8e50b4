package docs

import (
	"cmp"
	"slices"
	"strings"
)

// Match is a section of a page that a search found.
type Match struct {
	Page    string `json:"page"`
	Section string `json:"section"` // heading, or the page's title for its beginning
	Line    string `json:"line"`    // first line with the most of the words

	score int
}

// headingScore is how many occurrences in the text a word in a heading outweighs.
const headingScore = 20

// Search returns the sections that contain all words of a query, in any letter case, the best first.
func Search(query string) (found []Match) {
	words := strings.Fields(strings.ToLower(query))
	if len(words) == 0 {
		return nil
	}
	for _, p := range Pages() {
		for heading, text := range p.sections() {
			m := Match{Page: p.Name, Section: heading}
			if m.match(text, words) {
				found = append(found, m)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Match) int { return cmp.Compare(b.score, a.score) })
	return found
}

// match fills in the line and the score, and reports whether the section has all words.
func (m *Match) match(text string, words []string) bool {
	heading, body := strings.ToLower(m.Section), strings.ToLower(text)
	for _, w := range words {
		n := strings.Count(body, w)
		if strings.Contains(heading, w) {
			n += headingScore
		}
		if n == 0 {
			return false
		}
		m.score += n
	}
	most := 0
	for line := range strings.Lines(text) {
		n, lower := 0, strings.ToLower(line)
		for _, w := range words {
			if strings.Contains(lower, w) {
				n++
			}
		}
		if n > most {
			m.Line, most = strings.TrimSpace(line), n
		}
	}
	return true
}

// sections yields the headings of a page with the text below each.
func (p Page) sections() func(yield func(heading, text string) bool) {
	return func(yield func(heading, text string) bool) {
		heading, text, fence := p.Title, strings.Builder{}, false
		for line := range strings.Lines(p.Text) {
			fence = fence != strings.HasPrefix(line, "```")
			title := strings.TrimLeft(line, "#")
			if fence || len(title) == len(line) || title[0] != ' ' {
				text.WriteString(line)
				continue
			}
			if text.Len() > 0 && !yield(heading, text.String()) {
				return
			}
			heading = strings.TrimSpace(title)
			text.Reset()
		}
		yield(heading, text.String())
	}
}
