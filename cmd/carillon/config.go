package main

import (
	"context"
	"errors"
	"strings"

	"github.com/carillon-sched/carillon/cmd/carillon/jobfile"
	"github.com/carillon-sched/carillon/cmd/carillon/profiles"
	"github.com/carillon-sched/carillon/cmd/carillon/settings"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
)

type configCmd struct {
	serveCmd `embed:""`

	Check string `help:"Only validate this settings file, as --config would." placeholder:"FILE" setting:"-"`
}

// Run shows the settings.
func (c configCmd) Run(ctx context.Context, t *terminal.Terminal, line commandLine) error {
	if c.Check != "" {
		line = append(line, "--config", c.Check)
	}
	_, set, err := line.settings(ctx, t)
	if err != nil {
		return reportSettings(t, err)
	}
	if exposed := set.Exposed(); len(exposed) > 0 {
		t.Complain("warning", settings.Exposure+": "+strings.Join(exposed, ", "))
	}
	if c.Check != "" && !t.JSON {
		return nil
	}
	return terminal.PrintList(t, set.Rows(), nil, "", []string{"SETTING", "VALUE", "FROM"}, settings.Row.Columns)
}

// commandLine holds the arguments of the program.
type commandLine []string

// settings reads and checks the flags of serve from the command line, the environment and the file.
func (l commandLine) settings(ctx context.Context, t *terminal.Terminal) (serveCmd, settings.Set, error) {
	parser, all := newParser(t)
	command, err := parser.Parse(l)
	if err != nil {
		return serveCmd{}, nil, usage(err)
	}
	c := &all.Serve
	if command.Selected().Name == "config" {
		c = &all.Config.serveCmd
	}
	set, err := settings.Apply(command, c.Config, t.Lookup, func() error {
		return errors.Join(c.check(), profiles.CheckAddress(ctx, c.Pprof))
	})
	return *c, set, err
}

// refusedSettings reports invalid settings at a start. The file counts as part of the command line, so the exit
// code does not depend on the source of a setting, and a service manager knows that a restart is pointless.
func refusedSettings(t *terminal.Terminal, err error) error {
	if _, ok := errors.AsType[settings.Problems](err); ok {
		return terminal.Usage(reportSettings(t, err))
	}
	return err
}

// reportSettings reports invalid settings.
func reportSettings(t *terminal.Terminal, err error) error {
	if problems, ok := errors.AsType[settings.Problems](err); ok {
		return jobfile.Report(t, problems)
	}
	return err
}
