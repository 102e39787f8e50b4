package jobs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/check"
	"github.com/carillon-sched/carillon/cmd/carillon/jobfile"
	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/client"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/source"
)

// Apply creates or updates jobs from files.
type Apply struct {
	remote.Server
	remote.Within

	Paths       []string `arg:"" name:"path" help:"Job files, directories of job files, or - for standard input."`
	DryRun      bool     `help:"Show the changes and the next runs, without applying."`
	IfUnchanged bool     `help:"Apply a document with an \"etag\" only if the job or source still has that ETag."`
	Strict      bool     `help:"Treat warnings as errors."`
}

// Run applies the files.
func (c Apply) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	if err := scheduler.ValidateCollection(c.Collection); err != nil {
		return terminal.Usage(err)
	}
	files, problems := jobfile.Find(c.Paths)
	reader := jobfile.Reader{Lookup: lookupAt(ctx, t.Lookup, api), Collection: c.Collection, Stdin: t.Input(ctx)}
	jobs, wrong := reader.Read(files)
	p := putting{api: api, PutOptions: client.PutOptions{Strict: c.Strict, DryRun: c.DryRun}, ifUnchanged: c.IfUnchanged}
	results := jobfile.Apply(ctx, jobs, p.put)
	err := report(t, append(problems, wrong...), results)
	if !t.JSON || errors.Is(err, scheduler.ErrUnavailable) {
		return err
	}
	return errors.Join(printResults(t, results, append(problems, wrong...)), err)
}

// putting puts jobs, sources and collections into a scheduler that runs. A dry run remembers the collections that would be
// created: no scheduler can check their jobs yet.
type putting struct {
	client.PutOptions

	api         *client.Client
	ifUnchanged bool     // put a job or source whose document has an ETag only if the stored one still has it
	made        sync.Map // of a dry run: documents of collections that would be created, by name
	edited      sync.Map // names of existing collections that would change
}

// put puts a document, or reports the effect of that.
func (p *putting) put(ctx context.Context, j jobfile.Job) (a jobfile.Answer, err error) {
	if j.IsCollection() {
		return p.collection(ctx, j)
	}
	o, err := p.conditional(j)
	switch {
	case err != nil:
		return a, err
	case j.OfEvents && p.DryRun:
		return p.source(ctx, j, o)
	case j.OfEvents:
		got, err := p.api.PutSource(ctx, j.Key, j.Body, o)
		if err == nil {
			a.Result = got.Result
		}
		return a, err
	}
	if p.DryRun {
		if made, ok := p.made.Load(j.Key.Collection); ok {
			return p.dryRun(j, made.([]byte)) //nolint:forcetypeassert // nothing else is stored
		}
		before, err := p.api.Get(ctx, j.Key)
		if err != nil && !errors.Is(err, scheduler.ErrNotFound) {
			return a, err
		}
		if err == nil {
			a.Before = shown(before)
		}
	}
	got, err := p.api.Put(ctx, j.Key, j.Body, o)
	if err != nil {
		return jobfile.Answer{}, err
	}
	a.Result, a.Message, a.Warnings = got.Result, got.Status.Message, got.Warnings
	if p.DryRun {
		a.DryRun, a.After = got.DryRun, shown(got)
	}
	if _, edited := p.edited.Load(j.Key.Collection); edited && a.DryRun != nil {
		a.DryRun.Notes = append(a.DryRun.Notes, currentDefaults)
	}
	return a, nil
}

// collection puts a collection.
func (p *putting) collection(ctx context.Context, j jobfile.Job) (a jobfile.Answer, err error) {
	if p.DryRun {
		before, err := p.api.Collection(ctx, j.Key.Collection)
		if err != nil && !errors.Is(err, scheduler.ErrNotFound) {
			return a, err
		}
		if err == nil {
			a.Before = without(before.Document, identity...)
		}
	}
	put, err := p.api.PutCollection(ctx, j.Key.Collection, j.Body, p.DryRun)
	if err != nil {
		return jobfile.Answer{}, err
	}
	a.Result = put.Result
	if !p.DryRun {
		return a, nil
	}
	a.After = without(put.Document, identity...)
	switch a.Result {
	case v1.Created:
		p.made.Store(j.Key.Collection, j.Body)
	case v1.Updated:
		p.edited.Store(j.Key.Collection, true)
	case v1.Unchanged:
	}
	return a, nil
}

// identity lists the fields of a collection's document that follow from its name, and its status.
var identity = []string{"id", "type", "name", "etag", "result", "dryRun"}

// conditional returns the options for a document, on request with the condition that what is stored has its ETag.
func (p *putting) conditional(j jobfile.Job) (client.PutOptions, error) {
	o := p.PutOptions
	if !p.ifUnchanged {
		return o, nil
	}
	v, err := document.Parse(j.Body)
	if err != nil {
		return o, scheduler.AsInvalid(err)
	}
	if etag, ok := v.Member("etag"); ok {
		if o.IfMatch = etag.Text(); o.IfMatch == "" {
			return o, scheduler.Invalid("etag",
				"is not an ETag, such as \"a1b2-3\" with its quotes; omit it to apply the document unconditionally")
		}
	}
	return o, nil
}

// Validate checks job files.
type Validate struct {
	Paths []string `arg:"" name:"path" help:"Job files, directories of job files, or - for standard input."`

	Collection string        `short:"c" help:"Collection of jobs that name none." default:"default" env:"CARILLON_COLLECTION" placeholder:"NAME"`
	Dev        bool          `help:"Check for carillon dev: retries after a second, and Service Bus without a key."`
	MinRetry   time.Duration `name:"min-retry-interval" help:"Minimum retryInterval; use the value of carillon serve." default:"15s" placeholder:"DURATION"`
	Strict     bool          `help:"Treat warnings as errors."`
}

// DevMinRetry is the shortest retryInterval in `carillon dev`.
const DevMinRetry = time.Second

// valid is the result for a valid job.
const valid v1.Result = "valid"

// Run validates files.
func (c Validate) Run(ctx context.Context, t *terminal.Terminal) error {
	retry := c.MinRetry
	if c.Dev {
		retry = DevMinRetry
	}
	checker := check.New(check.Config{MinRetryInterval: retry, AnyKey: c.Dev})
	defer checker.Close()
	files, problems := jobfile.Find(c.Paths)
	reader := jobfile.Reader{Lookup: LookupWith(t.Lookup, check.Echo), Collection: c.Collection, Stdin: t.Input(ctx)}
	jobs, wrong := reader.Read(files)
	problems = append(problems, wrong...)
	results := jobfile.Apply(ctx, jobs, func(_ context.Context, j jobfile.Job) (jobfile.Answer, error) {
		if j.OfEvents {
			_, err := readSource(j)
			return jobfile.Answer{Result: valid}, err
		}
		warnings, err := checker.Document(j.Key, j.Body, c.Strict)
		return jobfile.Answer{Result: valid, Warnings: warnings}, err
	})
	err := terminal.Hinted(report(t, problems, results), "fix the files; nothing was changed")
	if t.JSON {
		return errors.Join(printResults(t, results, problems), err)
	}
	return err
}

// readSource reads a source without a scheduler.
func readSource(j jobfile.Job) (*source.Source, error) {
	v, err := scheduler.ParseDocument(j.Body)
	if err != nil {
		return nil, err
	}
	return source.Read(j.Key, v, nil)
}

// report prints the results of job files and returns an error for the problems.
func report(t *terminal.Terminal, problems []jobfile.Problem, results []jobfile.Result) error {
	for _, r := range results {
		problems = append(problems, r.Problems...)
	}
	if err := firstUnavailable(problems); err != nil {
		return err
	}
	problems = onePerCollection(problems)
	for _, r := range results {
		if !t.JSON {
			printResult(t, r)
			warn(t, r)
		}
	}
	return terminal.Hinted(jobfile.Report(t, problems), applyHint(problems))
}

// warn prints the warnings about a job.
func warn(t *terminal.Terminal, r jobfile.Result) {
	for _, w := range r.Warned {
		t.Complain("warning", w.String())
	}
}

func printResult(t *terminal.Terminal, r jobfile.Result) {
	if r.Result == "" {
		return
	}
	line := fmt.Sprintf("%-9s %s", r.Result, r.Job.Name())
	if r.After != nil {
		line += " (dry run)"
	}
	if r.Message != "" {
		line += ": " + t.Paint(terminal.Yellow, r.Message)
	}
	t.Printf("%s\n", line)
	if r.After == nil {
		return
	}
	colours := map[byte]string{'+': terminal.Green, '-': terminal.Red, '~': terminal.Dim}
	lines := jobfile.Diff(r.Before, r.After)
	if len(lines) == 0 && r.Result == v1.Updated {
		lines = []jobfile.Line{{Mark: '~', Text: "secrets, which are not shown"}}
	}
	for _, l := range lines {
		t.Printf("    %s\n", t.Paint(colours[l.Mark], strings.TrimRight(string(l.Mark)+" "+l.Text, " ")))
	}
	if r.DryRun == nil {
		return
	}
	for i, at := range r.DryRun.NextRuns[:min(len(r.DryRun.NextRuns), rehearsed)] {
		label := "          "
		if i == 0 {
			label = "next runs "
		}
		t.Printf("    %s%s\n", label, t.Time(at, terminal.Dated))
	}
	for _, note := range r.DryRun.Notes {
		t.Printf("    %s %s\n", t.Paint(terminal.Yellow, "note:"), note)
	}
}

// rehearsed is the number of next runs printed per job of a dry run.
const rehearsed = 5

// applied is the JSON result for a job.
type applied struct {
	Job            string `json:"job"` // or "collection NAME"
	File           string `json:"file"`
	jobfile.Answer        //nolint:embeddedstructfieldcheck // the output has it last
}

// printResults prints the jobs that were put, and all problems.
func printResults(t *terminal.Terminal, results []jobfile.Result, problems []jobfile.Problem) error {
	jobs, all := []applied{}, append([]jobfile.Problem{}, problems...)
	for _, r := range results {
		all = append(all, r.Problems...)
		if r.Result != "" {
			jobs = append(jobs, applied{r.Job.Name(), r.Job.File, r.Answer})
		}
	}
	return t.PrintJSON(map[string]any{"jobs": jobs, "problems": all})
}

// firstUnavailable returns the first error that no file has caused. One message is enough for all jobs.
func firstUnavailable(problems []jobfile.Problem) error {
	for _, p := range problems {
		if errors.Is(p.Cause, scheduler.ErrUnavailable) || errors.Is(p.Cause, context.Canceled) {
			return p.Cause
		}
	}
	return nil
}

// onePerCollection merges the problems about a missing collection into one with the number of its jobs.
func onePerCollection(problems []jobfile.Problem) []jobfile.Problem {
	var kept []jobfile.Problem
	first, jobs := map[string]int{}, map[string]int{}
	for _, p := range problems {
		if errors.Is(p.Cause, scheduler.ErrNotFound) && strings.HasPrefix(p.Message, "collection ") {
			collection, _, _ := strings.Cut(p.Job, "/")
			jobs[collection]++
			if jobs[collection] > 1 {
				continue
			}
			first[collection] = len(kept)
		}
		kept = append(kept, p)
	}
	for collection, i := range first {
		if n := jobs[collection]; n > 1 {
			kept[i].Message += fmt.Sprintf(" (%d jobs are for it)", n)
		}
	}
	return kept
}

// nearFile suggests a file in the directory of a missing one, or returns "".
func nearFile(file string) string {
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		return ""
	}
	names := terminal.All(entries, fs.DirEntry.Name)
	if near := document.Nearest(filepath.Base(file), names); near != "" {
		return filepath.Join(filepath.Dir(file), near)
	}
	return ""
}

// applyHint suggests a fix for the most frequent mistakes.
func applyHint(problems []jobfile.Problem) string {
	for _, p := range problems {
		switch {
		case echoHint(p) != "":
			return echoHint(p)
		case errors.Is(p.Cause, scheduler.ErrNotFound):
			collection, _, _ := strings.Cut(p.Job, "/")
			return fmt.Sprintf("create the collection first: %q", "carillon collection create "+collection)
		case (strings.HasSuffix(p.Path, ".sasToken") || strings.HasSuffix(p.Path, ".sasKey")) && p.Message == "is required":
			member := p.Path[strings.LastIndexByte(p.Path, '.')+1:]
			return fmt.Sprintf("keep it as a secret, with %q, and write %s: {secretRef: NAME}", "carillon secrets set NAME", member)
		case errors.Is(p.Cause, fs.ErrNotExist) && nearFile(p.File) != "":
			return "did you mean " + nearFile(p.File) + "?"
		}
	}
	return "fix the files and apply again; applied jobs stay unchanged"
}
