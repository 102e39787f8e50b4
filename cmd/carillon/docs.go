package main

import (
	"fmt"
	"strings"

	"github.com/carillon-sched/carillon/cmd/carillon/docs"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
)

type docsCmd struct {
	Page string `arg:"" optional:"" help:"Name of a page, or how it begins. Without it, all pages are listed."`
}

// Help shows examples.
func (docsCmd) Help() string {
	return `The pages say what a job may have in it, what is guaranteed, and how everything is run; they are those of this
program's version. They are Markdown, and need no scheduler.

Examples:

    carillon docs
    carillon docs schedules
    carillon docs guar               a page whose name begins so
    carillon docs jobs | less
    carillon docs --json             name, title and summary of each, for programs`
}

// Run lists the pages, or prints one.
func (c docsCmd) Run(t *terminal.Terminal) error {
	if c.Page == "" {
		return c.list(t)
	}
	p, err := docs.Find(c.Page)
	if missing, ok := err.(*docs.MissingError); ok { //nolint:errorlint // Find gives no other
		return missingPage(missing)
	}
	if t.JSON {
		return t.PrintJSON(p)
	}
	t.Printf("%s", p.Text)
	return nil
}

func (docsCmd) list(t *terminal.Terminal) error {
	pages := docs.Pages()
	if t.JSON {
		for i := range pages {
			pages[i].Text = ""
		}
		return t.PrintJSON(terminal.List[docs.Page]{Value: pages})
	}
	for _, p := range pages {
		t.Printf("%-14s %s\n", p.Name, p.Summary)
	}
	t.Printf("\n\"carillon docs PAGE\" prints one.\n")
	return nil
}

// notFound is a page that is not there.
type notFound struct{ error }

// Is makes it [scheduler.ErrNotFound].
func (notFound) Is(target error) bool { return target == scheduler.ErrNotFound }

// missingPage says which page was probably meant.
func missingPage(missing *docs.MissingError) error {
	err := notFound{missing}
	switch len(missing.Near) {
	case 0:
		return terminal.Hinted(err, "the pages are "+strings.Join(missing.Pages, ", "))
	case 1:
		return terminal.Hinted(err, fmt.Sprintf("did you mean %q?", "carillon docs "+missing.Near[0]))
	}
	return terminal.Hinted(err, "several begin so: "+strings.Join(missing.Near, ", "))
}
