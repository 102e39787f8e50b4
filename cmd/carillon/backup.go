package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/user"
	"runtime/debug"
	"strings"
	"time"

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
	if err := firstOf(checkURLs(c.URL), checkPrefix(c.Prefix), c.checkFiles()); err != nil {
		return err
	}
	debug.SetGCPercent(frugal)
	began := time.Now()
	report := backupReport{File: c.File}
	err := c.withStore(ctx, store.Config{Prefix: c.Prefix}, false, func(st *store.Store) error {
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
	return fmt.Sprintf("%s, %s, %s, %s",
		terminal.Plural(s.Jobs, "job", "jobs"), terminal.Plural(s.Collections, "collection", "collections"),
		terminal.Plural(s.Secrets, "shared secret", "shared secrets"), terminal.Plural(s.Tokens, "access token", "access tokens"))
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
	natsConn `embed:"" group:"Connection to NATS"`

	File     string          `arg:"" help:"File that \"carillon backup\" has written; - for standard input."`
	Check    bool            `help:"Only read the file, and tell what is in it. Needs no NATS."`
	DryRun   bool            `help:"Only tell what would be restored, and what is in the way."`
	Existing backup.Existing `help:"What becomes of what is there under the same name and is something else: refuse the restore, keep it, or replace it." enum:"refuse,keep,replace" default:"refuse" placeholder:"WHAT"`
	Disabled bool            `help:"Let jobs come disabled, with their counters; \"carillon enable\" lets them go on."`
	Tokens   bool            `help:"Restore access tokens, too." default:"true" negatable:""`

	Prefix   string `group:"What is stored" help:"Prefix of the scheduler on NATS." env:"CARILLON_PREFIX" default:"carillon" placeholder:"NAME"`
	Lanes    int    `group:"What is stored" help:"Partitions of the waiting jobs of a store that is not there yet, 1 to 256." env:"CARILLON_LANES" default:"0" placeholder:"N"`
	Replicas int    `group:"What is stored" help:"Copies of everything of a store that is not there yet, 1 to 5." env:"CARILLON_REPLICAS" default:"0" placeholder:"N"`

	FinalAge time.Duration `group:"What is stored" help:"How long completed and faulted jobs are kept after their end, as for the schedulers." env:"CARILLON_FINAL_AGE" default:"1440h" placeholder:"DURATION"`
}

// Help shows examples.
func (restoreCmd) Help() string {
	return `Restores jobs with their secrets, counters and next runs, collections, shared secrets and access tokens, into the store
of a scheduler, or makes one; its prefix, lanes and replicas may be others than they were. Nothing is written before the
whole file was read and found in order. Schedulers there may run meanwhile, and need the key file of the old ones.

What fell due since the backup is left to the catchUp of each job. What was running then is due again, under its key.
Stop the old schedulers first, or restore with --disabled: else both run the jobs.

What is in the way refuses the restore, unless --existing says otherwise. What was restored before is not in the way, so
a restore that was cut short goes on when it is repeated.

Examples:

    carillon restore --check carillon.backup
    carillon restore carillon.backup --dry-run
    carillon restore carillon.backup --nats-url nats://n1,nats://n2 --replicas 3 --lanes 4
    carillon restore carillon.backup --prefix rehearsal --disabled
    ssh vault cat carillon.backup | carillon restore -`
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
	defer func() { _ = f.Close() }() // it was read
	from, err := f.Reread()
	if err != nil {
		return err
	}
	header, has, err := backup.Verify(from)
	if err != nil {
		return c.explain(f, err)
	}
	if header.Schema > conn.Schema {
		return fmt.Errorf("%s: %w: a later version of carillon (%s) has made it: restore it with that one",
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
	return firstOf(checkURLs(c.URL), checkPrefix(c.Prefix), c.checkFiles(),
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
	err := c.withStore(ctx, cfg, !c.DryRun, func(st *store.Store) (err error) {
		with := backup.RestoreConfig{
			Store: st, Existing: c.Existing, Disabled: c.Disabled, Tokens: c.Tokens, Jobs: has.Jobs,
			Sign: tokens.NewKeeper(st.Tokens(), st.TokenLedger(), st.Now).Sign, Progress: progress(t, "compared", has.Jobs),
		}
		if c.DryRun || c.Existing == backup.Refuse {
			if report.Report, err = c.read(ctx, f, with, backup.Plan); err != nil {
				return err
			}
			if err := report.Conflict(); err != nil && !c.DryRun {
				return terminal.Hinted(err, "nothing was written; --dry-run lists what is in the way, "+
					"--existing keep or replace says what becomes of it")
			}
		}
		if c.DryRun {
			return nil
		}
		with.Progress = progress(t, "restored", has.Jobs)
		report.Report, err = c.read(ctx, f, with, backup.Restore)
		if report.Report != nil {
			c.tell(ctx, t, st, report.Report)
		}
		if err != nil {
			return terminal.Hinted(err, "what was written stays; the same command goes on from there")
		}
		return nil
	})
	if c.DryRun && errors.Is(err, scheduler.ErrNotFound) {
		report.Report = &backup.Report{Put: has.Counts} // no store exists yet
		return nil
	}
	return err
}

// read reads the file once more.
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

// tell records the restore in the audit log.
func (c restoreCmd) tell(ctx context.Context, t *terminal.Terminal, st *store.Store, r *backup.Report) {
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
		{"there already", &r.There},
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
		t.Complain("note", fmt.Sprintf("the schedulers need the key %s in their key file, for the secrets; "+
			"\"carillon doctor\" tells whether they have it", strings.Join(r.Keys, ", ")))
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
