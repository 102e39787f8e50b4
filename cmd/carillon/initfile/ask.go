package initfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
)

// ask asks for what the flags do not say.
func (c *Command) ask(ctx context.Context, t *terminal.Terminal) error {
	if err := answer(ctx, t, &c.Name, "Name of the job", "my-job"); err != nil {
		return err
	}
	if c.Type == "" && c.kind() == "http" && c.URL == "" {
		fmt.Fprint(t.Err, "What does it do?\n"+choices())
		if err := answer(ctx, t, &c.Type, "Type", "http"); err != nil {
			return err
		}
	}
	kind, ok := kindOf(c.kind())
	if !ok {
		return nil // the reader of the flags says so
	}
	targets := map[string]*string{
		"url": &c.URL, "account": &c.Account, "namespace": &c.Namespace, "queue": &c.Queue, "topic": &c.Topic,
		"subject": &c.Subject, "message": &c.Message,
	}
	for _, name := range kind.fields {
		f := fields[name]
		if err := answer(ctx, t, targets[name], f.question, f.preset); err != nil {
			return err
		}
	}
	if c.Every != "" || c.Cron != "" || c.At != "" {
		return nil
	}
	when := ""
	if err := answer(ctx, t, &when, "How often (30s, 5m, day, 2 weeks), or a cron pattern", "5m"); err != nil {
		return err
	}
	if _, _, err := ReadEvery(when); err == nil {
		c.Every = when
		return nil
	}
	c.Cron = when
	return nil
}

// answer asks for a value that is not there. No answer is the preset.
func answer(ctx context.Context, t *terminal.Terminal, value *string, question, preset string) error {
	if *value != "" {
		return nil
	}
	if preset != "" {
		question += " [" + preset + "]"
	}
	text, err := t.Ask(ctx, question+": ")
	if errors.Is(err, io.EOF) {
		return terminal.Usagef("there was no answer")
	}
	*value = cmp.Or(text, preset)
	return err
}
