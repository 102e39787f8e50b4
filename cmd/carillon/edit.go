package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/carillon-sched/carillon/cmd/carillon/edit"
	"github.com/carillon-sched/carillon/cmd/carillon/export"
	"github.com/carillon-sched/carillon/cmd/carillon/jobfile"
	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
	"github.com/carillon-sched/carillon/scheduler/document"
)

type editCmd struct {
	remote.Server
	remote.Within

	Name string `arg:"" name:"job" help:"Name of the job: job, or collection/job."`
}

// Help shows examples.
func (editCmd) Help() string {
	return `Opens the job as YAML in $VISUAL, else $EDITOR, else vi. When you save and leave, what you changed is put, and nothing
else: secrets, which are not shown, stay, and so does what somebody else changed meanwhile. To drop a secret, give its
member the value null.

If something is wrong, the editor opens again with the problems on top. Leave it without a change to give up; what you
wrote stays in the file that is named then. A file that is unchanged, or empty, changes nothing.

Examples:

    carillon edit report
    carillon edit billing/report --context production`
}

// Run edits a job.
func (c editCmd) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	k, err := c.Key(c.Name)
	if err != nil {
		return err
	}
	j, err := api.Get(ctx, k)
	if err != nil {
		return err
	}
	d, err := export.Job(j)
	if err != nil {
		return err
	}
	if d.Damaged {
		return terminal.Hinted(fmt.Errorf("job %s: %s", k, j.Status.Over), "there is nothing left to edit")
	}
	const introduction = "# Save and leave the editor to put what you changed. Lines that begin with # do not count; " +
		"an empty file changes nothing.\n"
	f, err := edit.Create(t, k.Job, introduction+string(d.YAML()))
	if err != nil {
		return err
	}
	s := editing{t: t, api: api, key: k, file: f, reader: jobfile.Reader{Lookup: lookupAt(ctx, t.Lookup, api)}}
	if s.before, err = document.Parse(j.Properties); err != nil {
		return err
	}
	done, err := s.run(ctx)
	if err != nil && s.written {
		kept := "what you wrote is kept in " + f.Path()
		if errors.Is(err, context.Canceled) { // of which nothing is said
			t.Complain("hint", kept)
		}
		return terminal.Hinted(err, kept)
	}
	f.Remove()
	if err != nil {
		return err
	}
	if t.JSON {
		return t.PrintJSON(map[string]string{"job": k.String(), "result": done})
	}
	t.Printf("%-9s %s\n", done, k)
	return nil
}

// editing is a job in the editor.
type editing struct {
	t       *terminal.Terminal
	api     *client.Client
	key     scheduler.Key
	reader  jobfile.Reader
	file    *edit.File
	before  document.Value // its properties
	written bool           // there is something in the file that was not there
}

// run opens the editor until what it leaves behind is in order, and returns what was done.
func (e *editing) run(ctx context.Context) (done string, err error) {
	var wrong error // with what was saved last
	for {
		text, changed, err := e.file.Open(ctx, e.t)
		e.written = e.written || changed && !edit.IsEmpty(text)
		switch {
		case err != nil:
			return "", err
		case edit.IsEmpty(text), !changed && wrong == nil:
			return "unchanged", nil
		case !changed:
			return "", wrong
		}
		done, err := e.put(ctx)
		if !errors.Is(err, scheduler.ErrInvalid) {
			return done, err
		}
		wrong = err
		if err := e.file.Complain(problemLines(err)); err != nil {
			return "", err
		}
	}
}

// problemLines are the problems of an error, each on a line.
func problemLines(err error) []string {
	var lines []string
	for _, p := range scheduler.ProblemsIn(err) {
		lines = append(lines, p.Error())
	}
	if len(lines) == 0 {
		return []string{err.Error()}
	}
	return lines
}

// put puts what is in the file. [scheduler.ErrInvalid] says what is wrong with it.
func (e *editing) put(ctx context.Context) (done string, err error) {
	jobs, problems := e.reader.Read([]string{e.file.Path()})
	if len(problems) > 0 {
		var all document.Problems
		for _, p := range problems {
			all = append(all, document.Problem{Path: p.Path, Message: p.Message})
		}
		return "", scheduler.AsInvalid(all)
	}
	if len(jobs) != 1 {
		return "", scheduler.Invalid("", fmt.Sprintf("there are %d jobs in the file, and one is edited", len(jobs)))
	}
	if jobs[0].Key != e.key {
		return "", scheduler.Invalid("name", fmt.Sprintf("a job keeps its name, %s; apply it under another, and delete this one", e.key))
	}
	v, err := document.Parse(jobs[0].Body)
	if err != nil {
		return "", scheduler.AsInvalid(err)
	}
	if inner, ok := v.Member("properties"); ok {
		v = inner
	}
	before := e.before.Without("status")
	if state, _ := before.Member("state"); scheduler.State(state.Text()).Final() {
		before = before.Without("state")
	}
	patch, changed := edit.Patch(before, v.Except("name", "collection", "id", "type", "status"))
	if !changed {
		return "unchanged", nil
	}
	if _, err := e.api.Patch(ctx, e.key, patch.JSON(), client.PutOptions{}); err != nil {
		return "", err
	}
	return "updated", nil
}
