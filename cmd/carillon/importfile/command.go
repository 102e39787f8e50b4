// Package importfile is the command that converts jobs of other schedulers to job files. Package importer
// converts; this package reads and writes files, checks the result as "carillon validate" does, and prints the
// report.
package importfile

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/cmd/carillon/check"
	"github.com/carillon-sched/carillon/cmd/carillon/export"
	"github.com/carillon-sched/carillon/cmd/carillon/jobfile"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/importer"
	"github.com/carillon-sched/carillon/scheduler/variable"
)

// Command is `carillon import`.
type Command struct {
	Format string   `arg:"" help:"Source format: crontab, k8s, arm, eventbridge, awx or obsidian."`
	Paths  []string `arg:"" name:"file" help:"Files, or - for standard input."`

	Output     string `name:"out" short:"o" help:"Directory for one file per job. Default: all jobs on standard output." placeholder:"DIR"`
	Collection string `short:"c" help:"Collection of jobs whose source names none." default:"default" env:"CARILLON_COLLECTION" placeholder:"NAME"`
	Target     string `name:"target-uri" help:"Target for entries that Carillon does not run itself: commands, pods, templates, classes. {name}, {namespace} and {id} come from the entry." placeholder:"URI"`
	TimeZone   string `name:"time-zone" help:"Time zone of schedules that name none. Default: UTC, with a note." placeholder:"ZONE"`
	System     bool   `help:"With crontab: the file has a user column, like /etc/crontab."`
	Strict     bool   `help:"Exit with code 1 unless every entry translates unchanged."`
}

// Run imports files.
func (c Command) Run(ctx context.Context, t *terminal.Terminal) error {
	if !slices.Contains(importer.Formats(), c.Format) {
		return terminal.Hinted(terminal.Usagef("%q is not one of %s", c.Format, strings.Join(importer.Formats(), ", ")),
			near(c.Format))
	}
	if t.JSON && c.Output != "" {
		return terminal.Usagef("--json and --out exclude each other")
	}
	if err := importer.CheckRunner(c.Target); err != nil {
		return terminal.Usagef("--target-uri: %w", err)
	}
	checker := check.New(check.Config{})
	defer checker.Close()
	var all importer.Result
	made := map[scheduler.Key]string{}
	for _, path := range c.Paths {
		data, err := jobfile.Load(path, t.Input(ctx))
		if err != nil {
			return terminal.Usagef("%s: %w", path, terminal.WithoutPath(err))
		}
		result, err := importer.Import(c.Format, data, importer.Options{
			Collection: c.Collection, Runner: c.Target, TimeZone: c.TimeZone, System: c.System,
		})
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		result = checked(checker, distinct(made, path, result))
		all.Jobs, all.Notes = append(all.Jobs, result.Jobs...), append(all.Notes, result.Notes...)
	}
	if err := c.write(t, all); err != nil {
		return err
	}
	if len(all.Jobs) == 0 && len(all.Notes) == 0 && !t.JSON {
		t.Complain("hint", fmt.Sprintf("the input has no entries of format %s", c.Format))
	}
	return c.verdict(all)
}

func near(format string) string {
	if meant := document.Nearest(format, importer.Formats()); meant != "" {
		return fmt.Sprintf("did you mean %q?", meant)
	}
	return `"carillon import --help" lists the formats`
}

// distinct omits, with a message, the documents that an earlier file has produced. made maps each document to
// its file.
func distinct(made map[scheduler.Key]string, path string, r importer.Result) importer.Result {
	r.Jobs = slices.DeleteFunc(r.Jobs, func(j importer.Job) bool {
		earlier, taken := made[j.Key]
		if !taken {
			made[j.Key] = path
			return false
		}
		r.Notes = append(r.Notes, importer.Note{
			Level: importer.Failed, Entry: j.Entry, Job: jobfile.NameOf(j.Key, false),
			Message: earlier + " has a job of the same name: import them into separate collections (--collection)",
		})
		return true
	})
	return r
}

// checked leaves out what no scheduler would take, and says why.
func checked(checker *check.Checker, r importer.Result) importer.Result {
	sound := importer.Result{Notes: r.Notes}
	for _, j := range r.Jobs {
		body := j.Document.Without("name", "collection")
		if j.Key.Job == "" {
			body = j.Document.Without("name", "type")
		}
		note := importer.Note{Entry: j.Entry, Job: jobfile.NameOf(j.Key, false)}
		warnings, err := checker.Document(j.Key, body.JSON(), false)
		if err == nil {
			err = scheduler.ValidateName("collection", j.Key.Collection)
		}
		if err != nil {
			for _, p := range scheduler.ProblemsIn(err) {
				note.Level, note.Field, note.Message = importer.Failed, p.Path, p.Message
				sound.Notes = append(sound.Notes, note)
			}
			continue
		}
		for _, w := range warnings {
			note.Level, note.Field, note.Message = importer.Changed, w.Path, w.Message
			sound.Notes = append(sound.Notes, note)
		}
		sound.Jobs = append(sound.Jobs, j)
	}
	return sound
}

// write prints the jobs, or writes their files, and prints the report.
func (c Command) write(t *terminal.Terminal, r importer.Result) error {
	documents := make([]export.Document, len(r.Jobs))
	values := make([]document.Value, len(r.Jobs))
	for i, j := range r.Jobs {
		documents[i] = export.Document{Key: j.Key, Value: variable.Escape(j.Document)}
		values[i] = documents[i].Value
	}
	if t.JSON {
		return t.PrintJSON(map[string]any{"value": values, "report": append([]importer.Note{}, r.Notes...)})
	}
	for _, n := range r.Notes {
		t.Errorf("%s\n", line(t, n))
	}
	if c.Output == "" {
		t.Printf("%s", export.Stream(documents))
		return nil
	}
	return export.WriteFiles(t, c.Output, documents)
}

// colours maps levels to colors.
var colours = map[importer.Level]string{
	importer.Changed: terminal.Yellow, importer.Dropped: terminal.Yellow, importer.Failed: terminal.Red,
}

// line is a note for people.
func line(t *terminal.Terminal, n importer.Note) string {
	text := t.Paint(colours[n.Level], fmt.Sprintf("%-7s", n.Level)) + "  " + n.Entry
	if n.Field != "" {
		text += ": " + n.Field
	}
	return text + ": " + n.Message
}

// verdict is the error that the report amounts to.
func (c Command) verdict(r importer.Result) error {
	entries := map[string]bool{}
	for _, n := range r.Notes {
		if n.Level == importer.Failed {
			entries[n.Entry] = true
		}
	}
	switch {
	case len(entries) > 0:
		hint := "the report above says why"
		if len(r.Jobs) > 0 {
			hint += "; the others were"
		}
		return terminal.Hinted(fmt.Errorf("%s not translated", terminal.Plural(len(entries), "entry was", "entries were")), hint)
	case c.Strict && len(r.Notes) > 0:
		return fmt.Errorf("--strict: %s not translated as it is", terminal.Plural(len(r.Notes), "thing was", "things were"))
	}
	return nil
}
