package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/user"
	"runtime/debug"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/cmd/carillon/backupfile"
	"github.com/carillon-sched/carillon/cmd/carillon/node"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/auth/tokens"
	"github.com/carillon-sched/carillon/scheduler/backup"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/conn"
)

type backupCmd struct {
	natsConn `embed:"" group:"NATS connection"`

	File   string `arg:"" help:"File to write; - for standard output."`
	Prefix string `help:"Prefix of the scheduler on NATS." env:"CARILLON_PREFIX" default:"carillon" placeholder:"NAME"`
	Tokens bool   `help:"Include access tokens: their hashes, which are not secret." default:"true" negatable:""`

	Partial bool `help:"Write a backup without damaged jobs, runs, collections, sources, secrets and tokens, instead of failing."`
}

// frugal runs the garbage collector after the heap has grown by half: the names of a million jobs alone take about
// ten megabytes.
const frugal = 50

// backupReport is the output for a backup.
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
	if err := cmp.Or(checkURLs(c.URL), checkPrefix(c.Prefix), c.checkFiles()); err != nil {
		return err
	}
	debug.SetGCPercent(frugal)
	began := time.Now()
	report := backupReport{File: c.File}
	open := func(nc *nats.Conn) (*store.Store, error) {
		return store.OpenBeside(ctx, nc, store.Config{Prefix: c.Prefix}, false)
	}
	err := c.withStore(ctx, open, func(st *store.Store) error {
		report.Header = backup.Header{
			Made: began.UTC().Truncate(time.Second), Version: t.Version, Prefix: st.Prefix(), Lanes: st.Lanes(), Schema: conn.Schema,
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

// withStore opens a store on NATS for a tool, and closes it after use.
func (f natsConn) withStore(
	ctx context.Context, open func(*nats.Conn) (*store.Store, error), use func(*store.Store) error,
) error {
	silent := slog.New(slog.DiscardHandler)
	nc, err := f.dial(ctx, startup{deadline: time.Now(), log: silent}, node.NewLink(silent, func() {}))
	if err != nil {
		return err
	}
	defer node.CloseConn(nc)
	st, err := open(nc)
	if err != nil {
		return err
	}
	return use(st)
}

// print prints the contents of a backup.
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

// contents describes a summary for people.
func contents(s *backup.Counts) string {
	text := fmt.Sprintf("%s, %s, %s, %s",
		terminal.Plural(s.Jobs, "job", "jobs"), terminal.Plural(s.Collections, "collection", "collections"),
		terminal.Plural(s.Secrets, "shared secret", "shared secrets"), terminal.Plural(s.Tokens, "access token", "access tokens"))
	if s.Sources > 0 {
		text += ", " + terminal.Plural(s.Sources, "source", "sources")
	}
	return text
}

// progressEvery is the interval of progress messages.
const progressEvery = 5 * time.Second

// progress reports progress on stderr; of is the total number of jobs, or 0 if unknown.
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

type restoreCmd struct {
	natsConn `embed:"" group:"NATS connection"`

	File     string          `arg:"" help:"File written by \"carillon backup\"; - for standard input."`
	Check    bool            `help:"Verify the file and show its contents, without NATS."`
	DryRun   bool            `help:"Show what would be restored, and all conflicts. Change nothing."`
	Existing backup.Existing `help:"How to handle existing objects with the same name and other content: refuse the restore, keep them, or replace them." enum:"refuse,keep,replace" default:"refuse" placeholder:"WHAT"`
	Disabled bool            `help:"Restore jobs as disabled, with their counters. \"carillon enable\" resumes them."`
	Tokens   bool            `help:"Restore access tokens." default:"true" negatable:""`

	Prefix   string `group:"Storage" help:"Prefix of the scheduler on NATS." env:"CARILLON_PREFIX" default:"carillon" placeholder:"NAME"`
	Lanes    int    `group:"Storage" help:"Number of lanes of a new store, 1 to 256." env:"CARILLON_LANES" default:"0" placeholder:"N"`
	Replicas int    `group:"Storage" help:"Copies of all data of a new store in a NATS cluster, 1 to 5." env:"CARILLON_REPLICAS" default:"0" placeholder:"N"`

	FinalAge time.Duration `group:"Storage" help:"How long to keep completed and faulted jobs; use the value of the schedulers." env:"CARILLON_FINAL_AGE" default:"1440h" placeholder:"DURATION"`
}

// Run restores a backup.
func (c restoreCmd) Run(ctx context.Context, t *terminal.Terminal) error {
	if err := c.check(); err != nil {
		return err
	}
	debug.SetGCPercent(frugal)
	f, err := backupfile.Open(ctx, t, c.File)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // read-only
	from, err := f.Reread()
	if err != nil {
		return err
	}
	header, has, err := backup.Verify(from)
	if err != nil {
		return c.explain(f, err)
	}
	if header.Schema > conn.Schema {
		return fmt.Errorf("%s: %w: written by a later version of carillon (%s): restore it with that version",
			f.Name(), scheduler.ErrConflict, header.Version)
	}
	if c.Check {
		report := backupReport{File: f.Name(), Header: header, Summary: has}
		return report.printChecked(t)
	}
	warnPartial(t, has.Omitted)
	report := restoreReport{Made: header.Made, DryRun: c.DryRun, Keys: has.Keys}
	began := time.Now()
	if err := c.restore(ctx, t, f, &has, &report); err != nil {
		return err
	}
	report.Seconds = time.Since(began).Seconds()
	return report.print(t)
}

func (c restoreCmd) check() error {
	return cmp.Or(checkURLs(c.URL), checkPrefix(c.Prefix), c.checkFiles(),
		checkMost("lanes", c.Lanes, conn.MaxLanes), checkMost("replicas", c.Replicas, conn.MaxReplicas),
		checkLeast("final-age", c.FinalAge, time.Hour))
}

// explain names the file that is damaged.
func (c restoreCmd) explain(f *backupfile.File, err error) error {
	err = fmt.Errorf("%s: %w", f.Name(), err)
	if _, ok := errors.AsType[*backup.FormatError](err); ok {
		return terminal.Hinted(err, "nothing was written; take another backup")
	}
	return err
}

// restore checks for conflicts, then restores.
func (c restoreCmd) restore(
	ctx context.Context, t *terminal.Terminal, f *backupfile.File, has *backup.Summary, report *restoreReport,
) error {
	cfg := store.Config{Prefix: c.Prefix, Lanes: c.Lanes, Replicas: c.Replicas, FinalAge: c.FinalAge}
	open := func(nc *nats.Conn) (*store.Store, error) { return store.OpenBeside(ctx, nc, cfg, !c.DryRun) }
	err := c.withStore(ctx, open, func(st *store.Store) (err error) {
		with := backup.RestoreConfig{
			Store: st, Existing: c.Existing, Disabled: c.Disabled, Tokens: c.Tokens, Jobs: has.Jobs,
			Sign: tokens.NewKeeper(st.Tokens(), st.TokenLedger(), st.Now).Sign, Progress: progress(t, "compared", has.Jobs),
		}
		if c.DryRun || c.Existing == backup.Refuse {
			if report.Report, err = c.read(ctx, f, with, backup.Plan); err != nil {
				return err
			}
			if err := report.Conflict(); err != nil && !c.DryRun {
				return terminal.Hinted(err, "nothing was written; list the conflicts with --dry-run, "+
					"and resolve them with --existing keep or replace")
			}
		}
		if c.DryRun {
			return nil
		}
		with.Progress = progress(t, "restored", has.Jobs)
		report.Report, err = c.read(ctx, f, with, backup.Restore)
		if report.Report != nil {
			c.logRestore(ctx, t, st, report.Report)
		}
		if err != nil {
			return terminal.Hinted(err, "the restore is incomplete; repeat the command to resume it")
		}
		return nil
	})
	if c.DryRun && errors.Is(err, scheduler.ErrNotFound) {
		report.Report = &backup.Report{Put: has.Counts} // no store exists yet
		return nil
	}
	return err
}

// read passes the file to use, from its beginning.
func (c restoreCmd) read(
	ctx context.Context, f *backupfile.File, with backup.RestoreConfig,
	use func(context.Context, backup.RestoreConfig, *backup.Reader) (*backup.Report, error),
) (*backup.Report, error) {
	from, err := f.Reread()
	if err != nil {
		return nil, err
	}
	r, err := backup.NewReader(from)
	if err != nil {
		return nil, c.explain(f, err)
	}
	defer r.Close()
	return use(ctx, with, r)
}

// logRestore records the restore in the audit log.
func (c restoreCmd) logRestore(ctx context.Context, t *terminal.Terminal, st *store.Store, r *backup.Report) {
	if r.Put == (backup.Counts{}) && r.Replaced == (backup.Counts{}) {
		return
	}
	e := &audit.Entry{
		Time: time.Now().UTC(), Kind: audit.System, Op: "restore", Name: "backup", By: audit.By{Via: auth.ViaNATS},
		Result: fmt.Sprintf("%d jobs restored, %d replaced", r.Put.Jobs, r.Replaced.Jobs),
	}
	if u, err := user.Current(); err == nil {
		e.Claim = u.Username
	}
	if err := st.AppendEntry(ctx, e); err != nil {
		t.Complain("warning", "the restore is not in the audit log: "+err.Error())
	}
}

// restoreReport is the output for a restore.
type restoreReport struct {
	*backup.Report

	Made    time.Time `json:"made"`
	DryRun  bool      `json:"dryRun,omitempty"`
	Keys    []string  `json:"keys,omitempty"`
	Seconds float64   `json:"seconds"`
}

func (r *restoreReport) print(t *terminal.Terminal) error {
	if t.JSON {
		return t.PrintJSON(r)
	}
	would := ""
	if r.DryRun {
		would = "would be "
	}
	for _, part := range []struct {
		word string
		of   *backup.Counts
	}{
		{would + "restored", &r.Put},
		{would + "replaced", &r.Replaced},
		{"already there", &r.There},
		{would + "kept as they are", &r.Kept},
		{"in the way", &r.Conflicts},
	} {
		if *part.of != (backup.Counts{}) || part.of == &r.Put {
			t.Printf("%s: %s\n", part.word, contents(part.of))
		}
	}
	for _, name := range r.Names {
		t.Printf("  %s\n", name)
	}
	if len(r.Keys) > 0 {
		t.Complain("note", fmt.Sprintf("the schedulers need the key %s in their key file to unseal the secrets; "+
			"check with \"carillon doctor\"", strings.Join(r.Keys, ", ")))
	}
	return nil
}

// printChecked prints the contents of a valid backup.
func (r *backupReport) printChecked(t *terminal.Terminal) error {
	if t.JSON {
		return t.PrintJSON(r)
	}
	t.Printf("%s is whole: %s\n", r.File, contents(&r.Counts))
	warnPartial(t, r.Omitted)
	t.Printf("made %s by carillon %s, of prefix %s with %s\n", t.Time(r.Made, terminal.Dated), r.Version, r.Prefix,
		terminal.Plural(r.Lanes, "lane", "lanes"))
	if len(r.Keys) > 0 {
		t.Printf("its secrets are sealed with the key %s\n", strings.Join(r.Keys, ", "))
	}
	return nil
}
