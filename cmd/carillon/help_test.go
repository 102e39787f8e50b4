package main

import (
	"io"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
)

// TestHelpTexts looks for the command of every text in help.md.
func TestHelpTexts(t *testing.T) {
	parser, _ := newParser(&terminal.Terminal{Out: io.Discard, Err: io.Discard})
	commands := map[string]bool{"select": true}
	var add func(n *kong.Node)
	add = func(n *kong.Node) {
		commands[commandPath(n)] = true
		for _, child := range n.Children {
			add(child)
		}
	}
	add(parser.Model.Node)
	for command := range helpTexts() {
		if !commands[command] {
			t.Errorf("%q has a text, and is no command", command)
		}
	}
}
