package importer

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Options supply information that a source lacks.
type Options struct {
	Collection string // of the jobs. Default: default

	// Runner is the URI to call for work that Carillon does not run itself. {name} is replaced by the entry's name,
	// {namespace} and {id} by the source's values. Default: such entries are not translated.
	Runner string

	TimeZone string // of schedules that name none. Default: UTC
	System   bool   // a crontab has a column for the user
}

// Level is the severity of a note.
type Level string

// The levels.
const (
	Changed Level = "changed" // expressed differently, or assumed
	Dropped Level = "dropped" // omitted, without a counterpart
	Failed  Level = "failed"  // the whole entry is omitted
)

// Note is a line of the report.
type Note struct {
	Level   Level  `json:"level"`
	Entry   string `json:"entry"`           // the entry's name in the source, or its line
	Job     string `json:"job,omitempty"`   // the name of the created job
	Field   string `json:"field,omitempty"` // of the entry
	Message string `json:"message"`
}

// Job is a job created from an entry.
type Job struct {
	Key      scheduler.Key // of a collection, Job is empty
	Entry    string
	Document document.Value
}

// Result is the result of an import.
type Result struct {
	Jobs  []Job
	Notes []Note
}

// formats are the sources.
var formats = map[string]func(*reading, []byte) error{
	"crontab": crontab, "k8s": cronJobs, "arm": templates, "eventbridge": eventBridge, "awx": awxSchedules, "obsidian": obsidian,
}

// Formats are the names of the sources.
func Formats() []string { return slices.Sorted(maps.Keys(formats)) }

// Import converts a source. It returns an error that matches [scheduler.ErrInvalid] if the source cannot be read at all.
func Import(format string, data []byte, o Options) (Result, error) {
	read, ok := formats[format]
	if !ok {
		return Result{}, scheduler.Invalid("format", fmt.Sprintf("%q is not one of %s", format, strings.Join(Formats(), ", ")))
	}
	if o.Collection == "" {
		o.Collection = scheduler.DefaultCollection
	}
	r := &reading{Options: o, names: map[scheduler.Key]int{}}
	if err := read(r, data); err != nil {
		return Result{}, scheduler.AsInvalid(err)
	}
	if len(r.Jobs) > maxJobs {
		return Result{}, scheduler.Invalid("", fmt.Sprintf("has more than %d entries; split it", maxJobs))
	}
	return r.Result, nil
}

// maxJobs is the most jobs of one source.
const maxJobs = 10_000

// reading is a source on its way to jobs.
type reading struct {
	Options
	Result

	names map[scheduler.Key]int // the last number behind a name; 1: none; 0: the name is free
}

// notef adds a line to the report.
func (r *reading) notef(level Level, entry, field, format string, args ...any) {
	r.Notes = append(r.Notes, Note{Level: level, Entry: entry, Field: field, Message: fmt.Sprintf(format, args...)})
}

// add adds a job with a free name. members has no name.
func (r *reading) add(entry, collection, name string, members fields) {
	if len(r.Jobs) > maxJobs {
		return
	}
	from := len(r.Notes)
	for from > 0 && r.Notes[from-1].Entry == entry && r.Notes[from-1].Job == "" {
		from--
	}
	k := scheduler.Key{Collection: collection, Job: jobName(name)}
	base := k
	for r.names[k] > 0 {
		r.names[base]++
		k.Job = fmt.Sprintf("%s-%d", base.Job, r.names[base])
	}
	r.names[k] = 1
	if k.Job != name {
		r.notef(Changed, entry, "name", "the job is called %s", k.Job)
	}
	all := append(object("name", k.Job, "collection", k.Collection), members...)
	r.Jobs = append(r.Jobs, Job{k, entry, document.ObjectValue(all...)})
	for i := range r.Notes[from:] {
		r.Notes[from+i].Job = k.String()
	}
}

var notInName = regexp.MustCompile(`[^-_A-Za-z0-9]+`)

// maxName is how long a job's name may be.
const maxName = 90 // and a number behind it

// jobName makes any text a name that jobs may have.
func jobName(text string) string {
	name := strings.Trim(notInName.ReplaceAllString(text, "-"), "-_")
	if name == "" || (name[0] < 'A' || name[0] > 'Z') && (name[0] < 'a' || name[0] > 'z') {
		name = strings.TrimRight("job-"+name, "-")
	}
	return name[:min(len(name), maxName)]
}

// placeNames are the placeholders of [Options.Runner].
var placeNames = []string{"name", "namespace", "id"}

var inBraces = regexp.MustCompile(`\{[^}]*\}?`)

// CheckRunner checks the URI of [Options.Runner], whose braces can contain only known placeholders.
func CheckRunner(uri string) error {
	for _, place := range inBraces.FindAllString(uri, -1) {
		if !slices.Contains(placeNames, strings.Trim(place, "{}")) {
			return fmt.Errorf("%s is none of {%s}", place, strings.Join(placeNames, "}, {"))
		}
	}
	return nil
}

// run returns the request to the runner for work that Carillon does not run itself, or false, with a note, without a runner.
func (r *reading) run(entry, what string, places map[string]string, body fields) (action fields, ok bool) {
	if r.Runner == "" {
		r.notef(Failed, entry, "", "it is %s, which Carillon does not run: set --target-uri to a runner", what)
		return nil, false
	}
	uri := r.Runner
	for _, name := range placeNames {
		place, value := "{"+name+"}", places[name]
		if value == "" && strings.Contains(uri, place) {
			r.notef(Failed, entry, "", "--target-uri contains %s, which the entry lacks", place)
			return nil, false
		}
		uri = strings.ReplaceAll(uri, place, url.PathEscape(value))
	}
	r.notef(Changed, entry, "", "it is %s: becomes a request to %s", what, uri)
	request := object("method", "POST", "uri", uri, "headers", object("Content-Type", "application/json"),
		"body", string(document.ObjectValue(body...).JSON()))
	return object("type", "http", "request", request), true
}

// zone returns the time zone of a schedule, with a note if the source names none.
func (r *reading) zone(entry, named, otherwise string) string {
	switch {
	case named != "":
		return named
	case r.TimeZone != "":
		return r.TimeZone
	}
	r.notef(Changed, entry, "", "it names no time zone: %s in the source, now UTC; set another with --time-zone", otherwise)
	return ""
}
