package jobs

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

// Edit changes a job in an editor.
type Edit struct {
	remote.Server
	remote.Within

	Name string `arg:"" name:"job" help:"Name of the job: job, or collection/job."`
}

// Help shows examples.
func (Edit) Help() string {
	return `Opens the job as YAML in $VISUAL, $EDITOR or vi. When you save and exit, only your changes are applied; hidden secrets and
the changes of other clients stay. To remove a secret, set its field to null. If another client changed the same fields,
the editor shows the conflict, and you decide whether to overwrite.

If the document has problems, the editor opens again with the problems on top. To cancel, exit without a change; a message
names the file with your text. An unchanged or empty file changes nothing.

Examples:

    carillon edit report
    carillon edit billing/report --context production`
}

// Run edits a job.
func (c Edit) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
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
		return terminal.Hinted(fmt.Errorf("job %s: %s", k, j.Status.Message), "there is nothing left to edit")
	}
	const introduction = "# Save and exit the editor to apply your changes. Lines that begin with # are ignored; " +
		"an empty file changes nothing.\n"
	f, err := edit.Create(t, k.Job, introduction+string(d.YAML()))
	if err != nil {
		return err
	}
	s := editing{t: t, api: api, key: k, file: f, reader: jobfile.Reader{Lookup: lookupAt(ctx, t.Lookup, api)}}
	if s.before, err = document.Parse(j.Properties); err != nil {
		return err
	}
	s.known, s.etag = own(s.before), j.ETag
	done, err := s.run(ctx)
	if err != nil && s.written {
		kept := "your text is kept in " + f.Path()
		if errors.Is(err, context.Canceled) { // without a message
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
	before  document.Value // its properties, as they were opened
	known   document.Value // as last read, without the fields that users do not write
	etag    string         // of these
	written bool           // there is something in the file that was not there
}

// own returns the properties that users write.
func own(properties document.Value) document.Value {
	properties = properties.Without("status")
	if state, _ := properties.Member("state"); scheduler.State(state.Text()).Final() {
		return properties.Without("state")
	}
	return properties
}

// run reopens the editor until the document is valid, and returns the result.
func (e *editing) run(ctx context.Context) (done string, err error) {
	var wrong error // of the last save
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
		ask := e.file.Complain
		if _, ok := errors.AsType[*overwriteError](err); ok {
			ask = e.file.Ask
		} else if !errors.Is(err, scheduler.ErrInvalid) {
			return done, err
		}
		wrong = err
		if err := ask(problemLines(err)); err != nil {
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

// put puts the document in the file. [scheduler.ErrInvalid] reports an invalid document.
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
		return "", scheduler.Invalid("", fmt.Sprintf("the file has %d jobs; keep one", len(jobs)))
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
	before := own(e.before)
	patch, changed := document.Patch(before, v.Except("name", "collection", "id", "type", "etag", "status"))
	if !changed {
		return "unchanged", nil
	}
	for {
		_, err := e.api.Patch(ctx, e.key, patch.JSON(), client.PutOptions{IfMatch: e.etag})
		if !errors.Is(err, scheduler.ErrPrecondition) {
			return "updated", err
		}
		if err := e.learn(ctx, document.Difference("", before, document.Merge(before, patch))); err != nil {
			return "", err
		}
	}
}

// learn reads concurrent changes of the job. Fields outside mine keep their current values; for overlapping
// changes it returns an [*overwriteError].
func (e *editing) learn(ctx context.Context, mine []document.Change) error {
	j, err := e.api.Get(ctx, e.key)
	if err != nil {
		return err
	}
	now, err := document.Parse(j.Properties)
	if err != nil {
		return err
	}
	theirs := document.Difference("", e.known, own(now))
	e.known, e.etag = own(now), j.ETag
	if lost := edit.Lost(mine, theirs); len(lost) > 0 {
		return newOverwriteError(e.key, lost)
	}
	for _, line := range edit.Lines(theirs) {
		e.t.Complain("note", "changed concurrently, and kept: "+line)
	}
	return nil
}

// overwriteError reports concurrent changes that a patch would overwrite, one per line.
type overwriteError struct{ document.Problems }

func newOverwriteError(k scheduler.Key, lost []document.Change) error {
	all := document.Problems{{Message: k.String() + " was changed by another client. Remove these lines to overwrite its changes:"}}
	for _, line := range edit.Lines(lost) {
		all = append(all, document.Problem{Message: line})
	}
	return &overwriteError{all}
}

// Unwrap returns the problems.
func (e *overwriteError) Unwrap() error { return e.Problems }

// Is reports whether target is [scheduler.ErrConflict].
func (*overwriteError) Is(target error) bool { return target == scheduler.ErrConflict }
