package jobs

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/client"
)

// Audit shows the audit log.
type Audit struct {
	remote.Server
	remote.Within

	Name   string     `arg:"" name:"job" optional:"" help:"Name of a job: job, or collection/job; collection/ for it and all its jobs. Default: everything."`
	Follow bool       `short:"f" help:"Print changes as they happen, until interrupted."`
	Top    int        `short:"n" help:"Number of changes to show." default:"20" placeholder:"N"`
	Who    string     `help:"Show only changes by this name, verified or claimed." placeholder:"NAME"`
	Op     string     `help:"Show only this operation: put, patch, delete, enable, disable, pause, cancel, run, try, resubmit, replay, create, revoke, rotate, repair, restore, acknowledge, mute, reopen." placeholder:"OP"`
	Kind   audit.Kind `help:"Show only changes of this kind: job, collection, secret, token, source, operation, failure, view or system." enum:",job,collection,secret,token,source,operation,failure,view,system" default:"" placeholder:"KIND"`
	Since  string     `help:"Show only changes since: 2026-03-08, 2026-03-08T02:30Z, or 2h (two hours ago)." placeholder:"TIME"`
	Until  string     `help:"Show only changes until: formats as in --since." placeholder:"TIME"`
}

// Run shows the audit log.
func (c Audit) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	q, err := c.query(t, time.Now())
	if err != nil {
		return err
	}
	if c.Follow {
		return api.FollowAudit(ctx, q, func(e *audit.Entry) { printChange(t, e) },
			func(err error) { t.Complain("note", err.Error()+"; trying again") })
	}
	entries, err := api.Audit(ctx, q, c.Top)
	if err == nil && len(entries) == 0 && !t.JSON {
		t.Complain("hint", "no changes match")
	}
	for _, e := range slices.Backward(entries) {
		printChange(t, e)
	}
	return err
}

// query returns the query of the flags.
func (c Audit) query(t *terminal.Terminal, now time.Time) (q client.AuditQuery, err error) {
	if c.Top < 1 {
		return q, terminal.Usagef("--top must be at least 1")
	}
	q = client.AuditQuery{Kind: c.Kind, Who: c.Who, Op: c.Op}
	if q.Since, err = t.Moment("since", c.Since, now); err != nil {
		return q, err
	}
	if q.Until, err = t.Moment("until", c.Until, now); err != nil {
		return q, err
	}
	q.Key, err = History{Within: c.Within, Name: c.Name}.target()
	return q, err
}

// printChange prints a record of the audit log: when, who, from where, what.
func printChange(t *terminal.Terminal, e *audit.Entry) {
	if t.JSON {
		_ = t.PrintJSON(e) // a reader that has gone ends the process
		return
	}
	t.Printf("%s  %-12s %-15s %-9s %s\n", t.Time(e.Time, terminal.Dated), changer(e), e.By.Address, e.Op, changed(e))
}

// changer is who made a change, for people.
func changer(e *audit.Entry) string {
	if e.By.Name == "" && e.Claim != "" {
		return e.Claim + "?"
	}
	return e.By.String()
}

// changed describes a change for people.
func changed(e *audit.Entry) string {
	parts := []string{e.Target()}
	for _, part := range []struct {
		show bool
		text string
	}{
		{e.Result != "" && e.Phase == "", e.Result},
		{e.Error != "", "refused: " + e.Error},
		{e.Phase != "", string(e.Phase)},
		{e.OldRevision != 0 && e.Revision != 0, fmt.Sprintf("%d → %d", e.OldRevision, e.Revision)},
		{len(e.Changed) > 0, strings.Join(e.Changed, ", ")},
		{e.SpecSequence != 0, "spec " + strconv.FormatUint(e.SpecSequence, 10)},
		{e.Rebuilt, "(written later)"},
	} {
		if part.show {
			parts = append(parts, part.text)
		}
	}
	return strings.Join(parts, "  ")
}
