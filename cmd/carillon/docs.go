package main

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/kong"

	"github.com/carillon-sched/carillon/cmd/carillon/docs"
	"github.com/carillon-sched/carillon/cmd/carillon/settings"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/rest"
	"github.com/carillon-sched/carillon/scheduler/schema"
)

type docsCmd struct {
	Page   string `arg:"" optional:"" help:"Name of a page, or its beginning. Default: list all pages."`
	Search string `placeholder:"WORDS" help:"List the sections that contain all of these words."`
}

// Run lists the pages, or prints one.
func (c docsCmd) Run(t *terminal.Terminal) error {
	switch {
	case c.Search != "" && c.Page != "":
		return terminal.Usagef("--search: searches all pages, leave out %q", c.Page)
	case c.Search != "":
		return c.search(t)
	case c.Page == "":
		return c.list(t)
	}
	p, err := docs.Find(c.Page)
	if missing, ok := err.(*docs.MissingError); ok { //nolint:errorlint // the only error of Find
		return missingPage(missing)
	}
	if t.JSON {
		return t.PrintJSON(p)
	}
	t.Printf("%s", p.Text)
	return nil
}

// matchesShown is the maximum number of sections that a search prints.
const matchesShown = 12

func (c docsCmd) search(t *terminal.Terminal) error {
	found := docs.Search(c.Search)
	if len(found) == 0 {
		err := &terminal.Failure{Message: fmt.Sprintf("no page contains %q", c.Search), Err: scheduler.ErrNotFound}
		return terminal.Hinted(err, "search for fewer words, or list the pages with \"carillon docs\"")
	}
	if t.JSON {
		return t.PrintJSON(terminal.List[docs.Match]{Value: found})
	}
	for _, m := range found[:min(len(found), matchesShown)] {
		t.Printf("%-17s %s\n    %s\n", m.Page, m.Section, m.Line)
	}
	if more := len(found) - matchesShown; more > 0 {
		t.Printf("\n%d more; add a word to narrow the search.\n", more)
	}
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
	for i, p := range pages {
		switch {
		case i == 0:
			t.Printf("%s\n", p.Part)
		case p.Part != pages[i-1].Part:
			t.Printf("\n%s\n", p.Part)
		}
		t.Printf("  %-17s %s\n", p.Name, p.Summary)
	}
	t.Printf("\n\"carillon docs PAGE\" prints one.\n")
	return nil
}

// missingPage suggests the nearest page.
func missingPage(missing *docs.MissingError) error {
	err := &terminal.Failure{Message: missing.Error(), Err: scheduler.ErrNotFound}
	switch len(missing.Near) {
	case 0:
		return terminal.Hinted(err, "the pages are "+strings.Join(missing.Pages, ", "))
	case 1:
		return terminal.Hinted(err, fmt.Sprintf("did you mean %q?", "carillon docs "+missing.Near[0]))
	}
	return terminal.Hinted(err, "matching pages: "+strings.Join(missing.Near, ", "))
}

type helpCmd struct {
	Command []string `arg:"" optional:"" help:"Command. Default: list all commands."`
}

// Run prints the help of a command.
func (c helpCmd) Run(t *terminal.Terminal) error {
	parser, _ := newParser(t, c.Command...)
	_, err := parser.Parse(append(c.Command, "--help"))
	if t.Helped || err == nil {
		return nil
	}
	return usage(err)
}

//go:embed help.md */help.md
var helpFiles embed.FS

// helpTexts returns the texts of help.md by command. The text select is the part that several have in common.
var helpTexts = sync.OnceValue(func() map[string]string {
	texts := map[string]string{}
	err := fs.WalkDir(helpFiles, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := helpFiles.ReadFile(path)
		for _, section := range strings.Split("\n"+string(data), "\n# ")[1:] {
			command, text, _ := strings.Cut(section, "\n")
			texts[command] = strings.Trim(text, "\n")
		}
		return err
	})
	if err != nil {
		panic(err) // the files are within the program
	}
	for command, text := range texts {
		texts[command] = strings.ReplaceAll(text, "{select}", texts["select"])
	}
	return texts
})

// addHelp adds the help of a command and of those below it.
func addHelp(n *kong.Node) {
	n.Detail = helpTexts()[commandPath(n)]
	for _, child := range n.Children {
		addHelp(child)
	}
}

type schemaCmd struct {
	Document string `arg:"" optional:"" help:"Document: job, collection, config or openapi." enum:"job,collection,config,openapi" default:"job"`
}

// Run prints a schema.
func (c schemaCmd) Run(t *terminal.Terminal) error {
	var text []byte
	var err error
	switch c.Document {
	case "job":
		text = schema.JobText
	case "collection":
		text = schema.CollectionText
	case "config":
		text, err = settingsSchema()
	case "openapi":
		text = append(rest.OpenAPI(thisBuild().Version), '\n')
	}
	if err != nil {
		return err
	}
	if t.JSON {
		return t.PrintJSON(json.RawMessage(text))
	}
	t.Printf("%s", text)
	return nil
}

// settingsSchema returns the schema of the settings file, derived from the flags of serve.
func settingsSchema() ([]byte, error) {
	parser, _ := newParser(&terminal.Terminal{Out: io.Discard, Err: io.Discard})
	i := slices.IndexFunc(parser.Model.Children, func(n *kong.Node) bool { return n.Name == "serve" })
	return settings.Schema(parser.Model.Children[i])
}

// version is set by a release build: -ldflags "-X main.version=v1.2.3".
var version string

// build describes this binary.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Time    string `json:"commitTime,omitempty"`
	Changed bool   `json:"changed,omitempty"` // built from files that differ from the commit
	Go      string `json:"go"`
	System  string `json:"system"`
}

func thisBuild() build {
	b := build{Version: version, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	info, _ := debug.ReadBuildInfo()
	info = cmp.Or(info, &debug.BuildInfo{}) // nil without module support
	if info.Main.Version != "(devel)" {
		b.Version = cmp.Or(b.Version, info.Main.Version)
	}
	b.Version = cmp.Or(b.Version, "0.0.0-dev")
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Changed = s.Value == "true"
		}
	}
	return b
}

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run(t *terminal.Terminal) error {
	b := thisBuild()
	if t.JSON {
		return t.PrintJSON(b)
	}
	t.Printf("carillon %s, %s, %s\n", b.Version, b.Go, b.System)
	if b.Commit != "" {
		changed := ""
		if b.Changed {
			changed = ", with changes"
		}
		t.Printf("commit %s of %s%s\n", b.Commit, b.Time, changed)
	}
	return nil
}
