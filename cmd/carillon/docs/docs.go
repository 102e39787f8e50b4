// Package docs holds the reference pages that `carillon docs` prints and the README links.
//
// A page is one Markdown file of this folder, named in lower case. It begins with its title, "# Title", and a
// summary of one line. A new file is a new page; the README must link it. Pages are readable in a terminal:
// except in code, lines have at most 120 characters.
package docs

import (
	"embed"
	"fmt"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/document"
)

//go:embed *.md
var files embed.FS

// Page is a reference page.
type Page struct {
	Name    string `json:"name"`           // of its file, without .md
	Title   string `json:"title"`          // in few words
	Summary string `json:"summary"`        // one line
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
	Name  string
	Near  []string // suggestions; may be empty
	Pages []string // all names
}

// Error names the page.
func (e *MissingError) Error() string { return fmt.Sprintf("there is no page %q", e.Name) }

// Find returns the page of a name, in any letter case, or the only one whose name begins so. The error is a
// [*MissingError].
func Find(name string) (Page, error) {
	wanted := strings.TrimSuffix(strings.ToLower(name), ".md")
	var names, near []string
	for _, p := range Pages() {
		names = append(names, p.Name)
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
	if meant := document.Nearest(wanted, names); len(near) == 0 && meant != "" {
		near = []string{meant}
	}
	return Page{}, &MissingError{Name: name, Near: near, Pages: names}
}
