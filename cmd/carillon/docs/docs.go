// Package docs holds the reference pages that `carillon docs` prints and the README links.
//
// A page is one Markdown file of this folder, named in lower case. It begins with its title, "# Title", and a
// paragraph of one line that says what it tells. Whoever adds a file adds a page; the README has to link it. Pages
// are fit for a terminal as they are: but for code, no line has more than 120 characters.
package docs

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed *.md
var files embed.FS

// Page is a reference page.
type Page struct {
	Name    string `json:"name"`           // of its file, without .md
	Title   string `json:"title"`          // in few words
	Summary string `json:"summary"`        // what it tells, in one line
	Text    string `json:"text,omitempty"` // all of it, as Markdown
}

// Pages returns all pages by name.
func Pages() []Page {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // the folder is within the program
	}
	pages := make([]Page, len(entries))
	for i, entry := range entries {
		text, err := files.ReadFile(entry.Name())
		if err != nil {
			panic(err) // as above
		}
		pages[i] = read(entry.Name(), string(text))
	}
	return pages
}

func read(file, text string) Page {
	title, rest, _ := strings.Cut(text, "\n")
	summary, _, _ := strings.Cut(strings.TrimLeft(rest, "\n"), "\n")
	name := strings.TrimSuffix(file, ".md")
	return Page{Name: name, Title: strings.TrimPrefix(title, "# "), Summary: summary, Text: text}
}

// MissingError says that no page has a name, or that several begin with it.
type MissingError struct {
	Name string
	Near []string // the names that were probably meant; may be empty
}

// Error names the page.
func (e *MissingError) Error() string { return fmt.Sprintf("there is no page %q", e.Name) }

// Find returns the page of a name, in any letter case, or the only one whose name begins so. The error is a
// [*MissingError].
func Find(name string) (Page, error) {
	pages := Pages()
	wanted := strings.TrimSuffix(strings.ToLower(name), ".md")
	var near []string
	for _, p := range pages {
		if p.Name == wanted {
			return p, nil
		}
		if wanted != "" && strings.HasPrefix(p.Name, wanted) {
			near = append(near, p.Name)
		}
	}
	if len(near) == 1 {
		return Find(near[0])
	}
	least := max(2, len(wanted)/3) + 1 // what differs more was not meant
	for _, p := range pages {
		if d := distance(wanted, p.Name); len(near) < 2 && d < least {
			near, least = []string{p.Name}, d
		}
	}
	return Page{}, &MissingError{Name: name, Near: near}
}

// distance is how many letters have to be put in, left out or changed to make one word another (Levenshtein).
func distance(from, to string) int {
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(from) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(to) {
			changed := diagonal
			if from[i] != to[j] {
				changed++
			}
			diagonal = row[j+1]
			row[j+1] = min(changed, diagonal+1, row[j]+1)
		}
	}
	return row[len(to)]
}
