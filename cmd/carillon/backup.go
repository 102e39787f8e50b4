package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/backupfile"
	"github.com/carillon-sched/carillon/cmd/carillon/node"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/backup"
	"github.com/carillon-sched/carillon/store"
)

type backupCmd struct {
	natsConn `embed:"" group:"Connection to NATS"`

	File   string `arg:"" help:"File to write; - for standard output."`
	Prefix string `help:"Prefix of the scheduler on NATS." env:"CARILLON_PREFIX" default:"carillon" placeholder:"NAME"`
	Tokens bool   `help:"Take access tokens, too: their hashes, which are no secrets." default:"true" negatable:""`

	Partial bool `help:"Write a backup without damaged jobs, runs, collections, secrets and tokens, instead of failing."`
}

// Help shows examples.
func (backupCmd) Help() string {
	return `A backup has all jobs with their secrets, sealed as they are stored, their counters and when they run next; collections;
shared secrets; and access tokens. Whoever restores it needs the key file of the scheduler, which is not in it: keep
that apart. It has neither the history nor the audit log.

It is made on NATS, where only operators get, while schedulers work: each job is taken as of one moment. The file is
written beside its place first, for you alone, so that it is there as a whole or not at all.

Examples:

    carillon backup carillon.backup
    carillon backup carillon.backup --nats-url nats://n1,nats://n2 --creds carillon.creds
    carillon backup - | ssh vault 'cat > carillon.backup'
    carillon backup carillon.backup --partial
    carillon restore --check carillon.backup`
}

// frugal has garbage collected when the heap has grown by half: of a million jobs, the names alone take some ten megabytes.
const frugal = 50

// backupReport is what is printed of a backup.
type backupReport struct {
	backup.Header
	backup.Summary

	File    string  `json:"file"`
	Seconds float64 `json:"seconds,omitempty"`
}

// Run makes a backup.
func (c backupCmd) Run(ctx context.Context, t *terminal.Terminal) error {
	if c.File == backupfile.Standard && t.JSON {
		return terminal.Usagef("--json and a backup on standard output exclude each other")
	}
	if err := firstOf(checkURLs(c.URL), checkPrefix(c.Prefix), c.checkFiles()); err != nil {
		return err
	}
	debug.SetGCPercent(frugal)
	began := time.Now()
	report := backupReport{File: c.File}
	err := c.withStore(ctx, store.Config{Prefix: c.Prefix}, false, func(st *store.Store) error {
		report.Header = backup.Header{
			Made: began.UTC().Truncate(time.Second), Version: t.Version, Prefix: st.Prefix(), Lanes: st.Lanes(), Schema: store.Schema,
		}
		return backupfile.Write(t, c.File, func(to io.Writer) (err error) {
			report.Summary, err = c.take(ctx, t, st, report.Header, to)
			return err
		})
	})
	if err != nil {
		return err
	}
	report.Format, report.Seconds = backup.Format, time.Since(began).Seconds()
	return report.print(t)
}

func (c backupCmd) take(ctx context.Context, t *terminal.Terminal, st *store.Store, h backup.Header, to io.Writer) (backup.Summary, error) {
	w, err := backup.NewWriter(to, h)
	if err != nil {
		return backup.Summary{}, err
	}
	err = backup.Take(ctx, backup.TakeConfig{
		Store: st, Tokens: c.Tokens, Partial: c.Partial,
		Progress: progress(t, "taken", 0), Logger: slog.New(slog.NewTextHandler(t.Err, nil)),
	}, w)
	if _, ok := errors.AsType[*backup.OmittedError](err); ok {
		return backup.Summary{}, terminal.Hinted(err, "no backup was written; repair or delete the damaged entry "+
			"(carillon doctor --fix), or run the command with --partial")
	}
	if err != nil {
		return backup.Summary{}, err
	}
	return w.Close()
}

// withStore opens the store on NATS for a tool, and closes it after use.
func (f natsConn) withStore(ctx context.Context, cfg store.Config, create bool, use func(*store.Store) error) error {
	silent := slog.New(slog.DiscardHandler)
	nc, err := f.dial(ctx, startup{deadline: time.Now(), log: silent}, node.NewLink(silent, func() {}))
	if err != nil {
		return err
	}
	defer node.CloseConn(nc)
	st, err := store.OpenBeside(ctx, nc, cfg, create)
	if err != nil {
		return err
	}
	return use(st)
}

// print prints what a backup has.
func (r *backupReport) print(t *terminal.Terminal) error {
	if t.JSON {
		return t.PrintJSON(r)
	}
	text := contents(&r.Counts)
	if r.File == backupfile.Standard {
		t.Complain("note", text)
	} else {
		t.Printf("%s: %s\n", r.File, text)
	}
	warnPartial(t, r.Omitted)
	if len(r.Keys) > 0 {
		t.Complain("note", fmt.Sprintf("the secrets in it are sealed with the key %s, which is not in it: keep the key file apart",
			strings.Join(r.Keys, ", ")))
	}
	return nil
}

// warnPartial warns of a partial backup.
func warnPartial(t *terminal.Terminal, omitted int) {
	if omitted > 0 {
		t.Complain("warning", "this backup is partial: it lacks "+terminal.Plural(omitted, "damaged entry", "damaged entries"))
	}
}

// contents tells a summary to people.
func contents(s *backup.Counts) string {
	return fmt.Sprintf("%s, %s, %s, %s",
		terminal.Plural(s.Jobs, "job", "jobs"), terminal.Plural(s.Collections, "collection", "collections"),
		terminal.Plural(s.Secrets, "shared secret", "shared secrets"), terminal.Plural(s.Tokens, "access token", "access tokens"))
}

// progressEvery is how often work that takes longer is told of.
const progressEvery = 5 * time.Second

// progress tells how far work is, on stderr; of is how many jobs there are in all, 0 when nobody knows.
func progress(t *terminal.Terminal, done string, of int) func(jobs int) {
	last := time.Now()
	return func(jobs int) {
		if time.Since(last) < progressEvery {
			return
		}
		last = time.Now()
		text := fmt.Sprintf("%d jobs %s", jobs, done)
		if of > 0 {
			text = fmt.Sprintf("%d of %d jobs %s", jobs, of, done)
		}
		t.Complain("note", text)
	}
}
