package main

import (
	"io"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/cmd/carillon/complete"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
)

// TestComplete completes command lines whose last word is where the cursor is.
func TestComplete(t *testing.T) {
	parser, _ := newParser(&terminal.Terminal{Out: io.Discard, Err: io.Discard})
	values := func(p complete.Place) ([]complete.Candidate, bool) {
		given := []string{p.Name}
		for _, name := range []string{"collection", "context", "server"} {
			if v := p.Given[name]; v != "" {
				given = append(given, name+"="+v)
			}
		}
		return []complete.Candidate{{Word: p.Word + "<" + strings.Join(given, " ") + ">"}}, p.Name == "path"
	}
	for line, want := range map[string]string{
		"|ap":                               "apply",
		"|e":                                "emulate edit export enable events explain",
		"|secrets|se":                       "set",
		"|secrets|":                         "set list delete rotate keygen",
		"|frob":                             "",
		"|run|":                             "<job>",
		"|rm|a|b|c":                         "c<job>",
		"|edit|a|":                          "",
		"|version|":                         "",
		"|get|--st":                         "--state",
		"|get|--state|":                     "enabled disabled paused completed faulted damaged",
		"|get|--state=f":                    "--state=faulted",
		"|get|--state|=|f":                  "faulted",
		"|get|--state|=":                    "enabled disabled paused completed faulted damaged",
		"|get|-o|w":                         "wide",
		"|get|--all-":                       "--all-collections",
		"|get|-A|--all-":                    "--all-collections",
		"|get|-c|":                          "<collection>",
		"|get|-c|team|":                     "<job collection=team>",
		"|get|-cteam|--server=http://x|":    "<job collection=team server=http://x>",
		"|get|-A|-c|team|x":                 "x<job collection=team>",
		"|get|--collection|team|--collecti": "",
		"|get|--|--json":                    "--json<job>",
		"|--json|ge":                        "get",
		"|apply|":                           "<path> files",
		"|context|use|":                     "<context>",
		"|collection|get|":                  "<collection>",
		"|collection|disable|a|":            "<collection>",
		"|history|--outcome|f":              "failed faulted",
		"|history|--outcome|failed|--outc":  "--outcome",
		"|completion|":                      "bash zsh fish",
		"|completion|bash|":                 "",
		"|__comp":                           "",
		"|help|":                            "<command>",
	} {
		found, files := complete.Complete(parser.Model, strings.Split(line, "|")[1:], values)
		var got []string
		for _, c := range found {
			got = append(got, c.Word)
		}
		if files {
			got = append(got, "files")
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: got %q, want %q", line, text, want)
		}
	}
}

// TestParserOfOneCommand finds each command by its name and its aliases, alone.
func TestParserOfOneCommand(t *testing.T) {
	term := &terminal.Terminal{Out: io.Discard, Err: io.Discard}
	all, _ := newParser(term)
	if len(all.Model.Children) < 40 {
		t.Fatalf("%d commands", len(all.Model.Children))
	}
	for _, command := range all.Model.Children {
		for _, name := range append(command.Aliases, command.Name) {
			one, _ := newParser(term, name)
			if got := one.Model.Children; len(got) != 1 || got[0].Name != command.Name {
				t.Errorf("%s: a parser of %d commands", name, len(got))
			}
		}
	}
	if unknown, _ := newParser(term, "frobnicate"); len(unknown.Model.Children) != len(all.Model.Children) {
		t.Errorf("an unknown command: a parser of %d commands", len(unknown.Model.Children))
	}
}
