package main

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/carillon-sched/carillon/cmd/carillon/docs/doctable"
	"github.com/carillon-sched/carillon/cmd/carillon/emulate"
	"github.com/carillon-sched/carillon/cmd/carillon/settings"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/console/words"
)

// TestConfigurationPage compares the list of the page with the flags of serve, their defaults, and which are live.
func TestConfigurationPage(t *testing.T) {
	parser, _ := newParser(&terminal.Terminal{Out: io.Discard, Err: io.Discard})
	i := slices.IndexFunc(parser.Model.Children, func(n *kong.Node) bool { return n.Name == "serve" })
	rows := [][]string{{"setting", "default", "live"}}
	flags := settings.Flags(parser.Model.Children[i])
	slices.SortFunc(flags, func(a, b *kong.Flag) int { return cmp.Compare(a.Name, b.Name) })
	for _, flag := range flags {
		row := []string{"`" + flag.Name + "`", "", ""}
		if text := cmp.Or(flag.Default, map[bool]string{true: "false"}[flag.IsBool()]); text != "" {
			row[1] = "`" + text + "`"
		}
		if flag.Tag.Has("live") {
			row[2] = "yes"
		}
		rows = append(rows, row)
	}
	doctable.Check(t, "docs/reference/configuration.md", "## All settings", rows)
}

// TestLanguageFlags compares the languages of the flags with those of the console.
func TestLanguageFlags(t *testing.T) {
	for _, command := range []any{consoleFlags{}, emulate.Command{}} {
		flag, _ := reflect.TypeOf(command).FieldByName("Language")
		if got, want := flag.Tag.Get("enum"), strings.Join(words.Languages(), ","); got != want {
			t.Errorf("%T has %s, want %s", command, got, want)
		}
	}
}

// TestSettingsSchema compares the file that editors use with the flags.
func TestSettingsSchema(t *testing.T) {
	want := must.Get(settingsSchema())(t)
	if got, err := os.ReadFile("settings/serve.json"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("it is not what the flags are (%v); run: go run ./cmd/carillon schema config > cmd/carillon/settings/serve.json", err)
	}
}
