package main

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/cmd/carillon/settings"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
)

// TestConfigurationPage compares the list of the page with the flags of serve, and which are live.
func TestConfigurationPage(t *testing.T) {
	parser, _ := newParser(&terminal.Terminal{Out: io.Discard, Err: io.Discard})
	i := slices.IndexFunc(parser.Model.Children, func(n *kong.Node) bool { return n.Name == "serve" })
	var want []string
	for _, flag := range settings.Flags(parser.Model.Children[i]) {
		row := flag.Name
		if flag.Tag.Has("live") {
			row += " live"
		}
		want = append(want, row)
	}
	slices.Sort(want)
	var listed []string
	page := read(t, pageFile("configuration"))
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` +\\|[^|]*\\| (yes)? *\\|$").FindAllStringSubmatch(page, -1) {
		row := m[1]
		if m[2] != "" {
			row += " live"
		}
		listed = append(listed, row)
	}
	slices.Sort(listed)
	if diff := cmp.Diff(want, listed); diff != "" {
		t.Errorf("the page lists others than there are (-flags +page):\n%s", diff)
	}
}

// TestSettingsSchema compares the file that editors use with the flags.
func TestSettingsSchema(t *testing.T) {
	want, err := settingsSchema()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile("settings/serve.json"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("it is not what the flags are (%v); run: go run ./cmd/carillon schema config > cmd/carillon/settings/serve.json", err)
	}
}
