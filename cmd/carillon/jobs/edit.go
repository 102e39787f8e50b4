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
	f, err := edit.Create(t, k.Job, string(d.YAML()))
	if err != nil {
		return err
	}
	s := editing{t: t, api: api, key: k, file: f, reader: jobfile.Reader{Lookup: lookupAt(ctx, t.Lookup, api)}}
	if s.before, err = document.Parse(j.Properties); err != nil {
		return err
	}
	s.known, s.etag = own(s.before), j.ETag
	done, err := f.Apply(ctx, t, s.put)
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
	t      *terminal.Terminal
	api    *client.Client
	key    scheduler.Key
	reader jobfile.Reader
	file   *edit.File
	before document.Value // its properties, as they were opened
	known  document.Value // as last read, without the fields that users do not write
	etag   string         // of these
}

// own returns the properties that users write.
func own(properties document.Value) document.Value {
	properties = properties.Without("status")
	if state, _ := properties.Member("state"); scheduler.State(state.Text()).Final() {
		return properties.Without("state")
	}
	return properties
}

// put puts the document in the file. [scheduler.ErrInvalid] reports an invalid document.
func (e *editing) put(ctx context.Context) (done string, err error) {
	v, err := e.file.Document(e.reader, "job", e.key)
	if err != nil {
		return "", err
	}
	before := own(e.before)
	patch, changed := document.Patch(before, v)
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
// changes it returns an [edit.Question].
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
		return edit.NewQuestion(e.key, lost)
	}
	for _, line := range edit.Lines(theirs) {
		e.t.Complain("note", "changed concurrently, and kept: "+line)
	}
	return nil
}
