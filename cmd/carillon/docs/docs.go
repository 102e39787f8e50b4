// Package docs holds the pages that `carillon docs` prints and the README links.
//
// A page is one Markdown file, named in lower case: a guide, a concept or a reference page by its folder, or getting
// started without one. The names are unique over the folders. A page begins with its title, "# Title", and a summary of
// one line. A new file is a new page; the README must link it. Pages are readable in a terminal: except in code, lines
// have at most 120 characters.
package docs

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/document"
)

//go:embed getting-started.md guides concepts reference
var files embed.FS

// parts are the folders of the pages, in reading order.
var parts = []struct{ folder, heading string }{
	{".", "Getting started"}, {"guides", "Guides"}, {"concepts", "Concepts"}, {"reference", "Reference"},
}

// Page is a page of one of the parts.
type Page struct {
	Part    string `json:"part"`           // its heading in the list
	Name    string `json:"name"`           // of its file, without folder and .md
	Title   string `json:"title"`          // in few words
	Summary string `json:"summary"`        // one line
	Text    string `json:"text,omitempty"` // all of it, as Markdown
	File    string `json:"-"`              // below this folder
}

// Pages returns all pages in reading order: by part, and by name within a part.
func Pages() (pages []Page) {
	for _, part := range parts {
		names, err := fs.Glob(files, path.Join(part.folder, "*.md"))
		if err != nil {
			panic(err) // the pattern is valid
		}
		for _, file := range names {
			text, err := files.ReadFile(file)
			if err != nil {
				panic(err) // the file is within the program
			}
			pages = append(pages, read(part.heading, file, string(text)))
		}
	}
	return pages
}

func read(part, file, text string) Page {
	title, rest, _ := strings.Cut(text, "\n")
	summary, _, _ := strings.Cut(strings.TrimLeft(rest, "\n"), "\n")
	name := strings.TrimSuffix(path.Base(file), ".md")
	return Page{Part: part, Name: name, Title: strings.TrimPrefix(title, "# "), Summary: summary, Text: text, File: file}
}

// MissingError says that no page has a name, or that several begin with it.
type MissingError struct {
	Name  string
	Near  []string // suggestions; may be empty
	Pages []string // all names
}

// Error names the page.
func (e *MissingError) Error() string { return fmt.Sprintf("there is no page %q", e.Name) }

// Find returns the page of a name, in any letter case and with or without its folder, or the only one whose name begins
// so. The error is a [*MissingError].
func Find(name string) (Page, error) {
	wanted := strings.TrimSuffix(strings.ToLower(name), ".md")
	var names, near []string
	for _, p := range Pages() {
		full := strings.TrimSuffix(p.File, ".md")
		names = append(names, p.Name)
		if wanted == p.Name || wanted == full {
			return p, nil
		}
		withFolder := strings.Contains(wanted, "/") && strings.HasPrefix(full, wanted)
		if withFolder || wanted != "" && strings.HasPrefix(p.Name, wanted) {
			near = append(near, p.Name)
		}
	}
	if len(near) == 1 {
		return Find(near[0])
	}
	if meant := document.Nearest(path.Base(wanted), names); len(near) == 0 && meant != "" {
		near = []string{meant}
	}
	return Page{}, &MissingError{Name: name, Near: near, Pages: names}
}
