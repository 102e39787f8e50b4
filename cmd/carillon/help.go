package main

import (
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
)

type helpCmd struct {
	Command []string `arg:"" optional:"" help:"The command. Without it, all are listed."`
}

// Help shows examples.
func (helpCmd) Help() string {
	return `Examples:

    carillon help
    carillon help apply
    carillon help secrets set`
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
