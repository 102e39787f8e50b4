package jobs

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/check"
	"github.com/carillon-sched/carillon/cmd/carillon/jobfile"
	"github.com/carillon-sched/carillon/cmd/carillon/printer"
	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/client"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/source"
)

// Try makes one attempt of a job.
type Try struct {
	remote.Server
	remote.Within

	What string `arg:"" name:"file|job" help:"A job file, - for standard input, or the name of a stored job: job, or collection/job."`
	Data string `help:"Values for the job's templates, a JSON object, as in carillon run." placeholder:"JSON"`
	Job  string `help:"Name of the job, if the file has several." placeholder:"NAME"`
}

// errTried ends a failed test run with exit code 1; its problem is already printed.
var errTried = errors.New("the attempt failed")

// Run tries the job.
func (c Try) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	k, body, err := c.subject(ctx, t, api)
	if err != nil {
		return err
	}
	if c.Data != "" {
		if body, err = c.withData(body); err != nil {
			return err
		}
	}
	v, err := api.Try(ctx, k, body)
	if err != nil {
		return err
	}
	if t.JSON {
		err = t.PrintJSON(v)
	} else {
		printTrial(t, v)
	}
	if v.Failed() {
		return errors.Join(err, terminal.Reported(errTried))
	}
	return err
}

// withData adds the data to a document, whose own values they replace, or returns that for the stored job.
func (c Try) withData(body []byte) ([]byte, error) {
	data, err := document.Parse([]byte(c.Data))
	if err != nil || data.Kind() != document.KindObject {
		return nil, terminal.Usagef("--data: is not a JSON object: quote it for your shell, as in --data '{\"order\": 7}'")
	}
	doc, at := document.ObjectValue(), "data."
	if body != nil {
		if doc, err = document.Parse(body); err != nil {
			return nil, err
		}
		if _, enveloped := doc.Member("properties"); enveloped {
			at = "properties.data."
		}
	}
	for _, m := range data.Members() {
		doc = doc.With(m.Value, at+m.Name)
	}
	return doc.JSON(), nil
}

// subject returns the document to test, or nothing for a stored job.
func (c Try) subject(ctx context.Context, t *terminal.Terminal, api *client.Client) (k scheduler.Key, body []byte, err error) {
	if info, err := os.Stat(c.What); c.What != jobfile.Stdin && (err != nil || info.IsDir()) {
		if jobfile.HasName(c.What) {
			return k, nil, terminal.Usagef("%s: file not found", c.What)
		}
		k, err := c.Key(c.What)
		return k, nil, err
	}
	reader := jobfile.Reader{Lookup: lookupAt(ctx, t.Lookup, api), Collection: c.Collection, Stdin: t.Input(ctx), Name: trialName}
	jobs, problems := reader.Read([]string{c.What})
	if len(problems) > 0 {
		return k, nil, report(t, problems, nil)
	}
	var names []string
	for _, j := range jobs {
		switch {
		case j.IsCollection(), j.OfEvents:
		case c.Job == "" || c.Job == j.Key.Job || c.Job == j.Key.String():
			k, body = j.Key, j.Body
			names = append(names, j.Key.String())
		}
	}
	switch len(names) {
	case 0:
		return k, nil, terminal.Usagef("%s: has no job with this name", c.What)
	case 1:
		return k, body, nil
	}
	several := terminal.Usagef("%s has several jobs: %s", c.What, strings.Join(names, ", "))
	return k, nil, terminal.Hinted(several, "choose one with --job NAME")
}

// trialName is the name of an unnamed job from standard input.
const trialName = "trial"

// printTrial prints the result of a test run.
func printTrial(t *terminal.Terminal, v *v1.Trial) {
	took := time.Duration(v.Duration).Round(time.Millisecond)
	t.Printf("%-9s %s in %s: %s to %s\n", v.Outcome, v.Job, took, v.Type, v.Target)
	printer.Field(t, "Message", cmp.Or(v.Summary, v.Message))
	for _, h := range v.Headers {
		printer.Field(t, h.Name, h.Value)
	}
	printer.Field(t, "Key", v.Key)
	printer.Field(t, "Answer", v.Body)
	if len(v.Kept) > 0 {
		t.Complain("note", "taken from the stored job: "+strings.Join(v.Kept, ", "))
	}
	for _, w := range v.Warnings {
		t.Complain("warning", w.Path+": "+w.Message)
	}
	if v.Hint != "" {
		t.Complain("hint", v.Hint)
	}
}

// source reports the effect of putting a source, without its secrets.
func (p *putting) source(ctx context.Context, j jobfile.Job, o client.PutOptions) (a jobfile.Answer, err error) {
	would, err := readSource(j)
	if err != nil {
		return a, err
	}
	var is *source.Source
	before, err := p.api.Source(ctx, j.Key)
	switch {
	case errors.Is(err, scheduler.ErrNotFound):
		a.Result, before = v1.Created, &client.Source{}
	case err != nil:
		return a, err
	default:
		a.Result, a.Before = v1.Updated, propertiesOf(before.Document)
		is = &source.Source{State: before.Properties.State}
	}
	a.After = would.Replacing(is, "", time.Time{}).Settings().JSON()
	if o.IfMatch == "" {
		return a, nil
	}
	when, err := scheduler.ReadCondition([]string{o.IfMatch}, nil)
	return a, errors.Join(err, when.Check("source "+j.Key.String(), before.ETag))
}

// propertiesOf returns the properties of a source without its status.
func propertiesOf(doc []byte) []byte {
	v, err := document.Parse(doc)
	if err != nil {
		return doc
	}
	properties, _ := v.Member("properties")
	return properties.Without("status").JSON()
}

// currentDefaults is a note on a job if apply would update its collection too.
const currentDefaults = "the update of its collection is not considered: quotas and inherited settings are the current ones"

// unchecked is a note on a job whose collection does not exist yet.
const unchecked = "its collection does not exist yet: limits of the scheduler and names of secrets are checked after it is created"

// dryRun checks a job of a collection that does not exist yet, as far as possible without a scheduler. It allows
// everything that a scheduler may allow.
func (p *putting) dryRun(j jobfile.Job, collection []byte) (a jobfile.Answer, err error) {
	checker := check.New(check.Config{MinRetryInterval: time.Millisecond, AnyKey: true})
	defer checker.Close()
	if _, err := checker.Document(scheduler.Key{Collection: j.Key.Collection}, collection, false); err != nil {
		return a, err
	}
	v, err := checker.Job(j.Key, j.Body, p.Strict)
	if err != nil {
		return a, err
	}
	would := &client.Job{}
	if err := would.UnmarshalJSON(v1.JSON(v)); err != nil {
		return a, err
	}
	a = jobfile.Answer{Result: v.Result, Warnings: v.Warnings, After: shown(would), DryRun: v.DryRun}
	if a.DryRun == nil {
		a.DryRun = &v1.DryRun{NextRuns: []time.Time{}}
	}
	a.DryRun.Notes = append(a.DryRun.Notes, unchecked)
	return a, nil
}

// shown returns the properties of a job and its inherited settings, without its status.
func shown(j *client.Job) []byte {
	v, err := document.Parse(j.Properties)
	if err != nil {
		return j.Properties
	}
	v = v.Without("status")
	if inherited, err := document.Parse(j.Inherited); err == nil {
		v = v.With(inherited, "inherited")
	}
	return v.JSON()
}

// without returns a document without some fields.
func without(doc []byte, members ...string) []byte {
	v, err := document.Parse(doc)
	if err != nil {
		return doc
	}
	return v.Without(members...).JSON()
}
