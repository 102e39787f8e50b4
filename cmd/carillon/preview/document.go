package preview

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/cmd/carillon/jobfile"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
	"github.com/carillon-sched/carillon/scheduler/variable"
)

// document reads the timing of a job, or of a recurrence alone, from JSON or YAML. file is where it comes from; empty if
// it was typed or piped.
func (c Command) document(t *terminal.Terminal, file, text string) (*subject, []fault) {
	if c.Dialect != "" {
		return nil, []fault{misuse("--dialect goes with an expression", `the member "dialect" of a recurrence says it`)}
	}
	s := &subject{}
	reader := jobfile.Reader{Lookup: lenient(t.Lookup), Stdin: strings.NewReader(text), Name: hashName}
	jobs, problems := reader.Read([]string{cmp.Or(file, jobfile.Stdin)})
	if len(problems) > 0 {
		return nil, problemFaults(file, typed(text), problems)
	}
	job, faults := c.choose(jobs)
	if len(faults) > 0 {
		return nil, faults
	}
	v, err := document.Parse(job.Body)
	if err != nil {
		return nil, faultsOf("", "", err)
	}
	if _, named := v.Member("name"); named || file != "" {
		s.name = job.Key.Job
	}
	s.source = job.Source
	if file == "" { // it is the only document
		s.source.File = ""
	}
	if file == "" && typed(text) {
		s.source = jobfile.Source{}
	}
	if err := s.readDocument(v); err != nil {
		return nil, s.documentFaults(v, err)
	}
	return s, nil
}

// lenient leaves variables alone that are not set. Most are for the action, which does not matter here.
func lenient(env variable.Lookup) variable.Lookup {
	return func(name string) (string, bool) {
		if v, ok := env(name); ok {
			return v, true
		}
		return "${" + name + "}", true
	}
}

// typed reports whether a text has one line, so that messages can omit the line number.
func typed(text string) bool { return !strings.Contains(strings.TrimSpace(text), "\n") }

func problemFaults(file string, typed bool, problems []jobfile.Problem) []fault {
	faults := make([]fault, len(problems))
	for i, p := range problems {
		if file == "" {
			p.File = "" // it is the only document
		}
		if _, syntax := errors.AsType[*document.SyntaxError](p.Cause); file == "" && typed && !syntax {
			p.Line = 0
		}
		faults[i] = fault{text: p.String()}
	}
	return faults
}

// choose returns the job that --name names if there are several.
func (c Command) choose(jobs []jobfile.Job) (jobfile.Job, []fault) {
	jobs = slices.DeleteFunc(jobs, jobfile.Job.IsCollection)
	if len(jobs) == 1 {
		return jobs[0], nil
	}
	names := make([]string, len(jobs))
	for i, j := range jobs {
		if c.Name == j.Key.Job || c.Name == j.Key.String() {
			return j, nil
		}
		names[i] = j.Key.Job
	}
	text := "there are " + terminal.Plural(len(jobs), "job", "jobs") + ": " + strings.Join(names, ", ")
	return jobfile.Job{}, []fault{misuse(text, "choose one with --name")}
}

// readDocument reads a job or a recurrence. The error is a [document.Problems].
func (s *subject) readDocument(v document.Value) error {
	r := document.NewReader()
	o := r.Object(v, "")
	switch {
	case o.Has("frequency"), o.Has("cron"), o.Has("rrule"):
		o.Ignore("name", "collection")
		recurrence := spec.ReadRecurrence(o)
		s.timing.Recurrence = &recurrence
	default:
		s.job = true
		o.Ignore("id", "type", "etag", "name", "collection", "result", "warnings", "dryRun")
		if inner, ok := o.Object("properties"); ok {
			o.Done()
			o = inner
		}
		scheduler.IgnorePolicies(o)
		scheduler.IgnoreUnscheduled(o)
		if until, ok := o.Time(pausedUntil); ok {
			s.paused = until
		} else {
			o.Null(pausedUntil)
		}
		s.timing = spec.ReadTiming(o)
	}
	o.Done()
	if err := r.Err(); err != nil {
		return err
	}
	for _, place := range []string{"", "recurrence", "properties.recurrence"} {
		s.keepText(v, place)
	}
	return nil
}

// pausedUntil is the member of a job that pauses it.
const pausedUntil = "pausedUntil"

// keepText takes the text of the rule, and its dialect, from the recurrence at a path, if it has one.
func (s *subject) keepText(v document.Value, path string) {
	recurrence, ok := find(v, path)
	if !ok {
		return
	}
	for _, member := range []string{"cron", "rrule"} {
		text, ok := recurrence.Member(member)
		if !ok {
			continue
		}
		dialect, _ := recurrence.Member("dialect")
		s.text, s.dsari = text.Text(), dialect.Text() == string(spec.Dsari)
		s.where = s.at(strings.TrimPrefix(path+"."+member, "."))
	}
}

// find returns the value at a path of plain names.
func find(v document.Value, path string) (document.Value, bool) {
	ok := true
	for name := range strings.SplitSeq(path, ".") {
		if ok && name != "" {
			v, ok = v.Member(name)
		}
	}
	return v, ok
}

// at returns the prefix of a message about a path of the document: "hello.yaml:7:12: recurrence.cron: ".
func (s *subject) at(path string) string {
	p := jobfile.Problem{File: s.source.File, Path: path}
	if p.Line, p.Column = s.source.Place(path); p.Line == 0 && p.File+path == "" {
		return ""
	}
	return p.String() + ": "
}

// documentFaults returns the problems of a document. A problem in the text of a rule has its position.
func (s *subject) documentFaults(v document.Value, err error) []fault {
	problems, ok := errors.AsType[document.Problems](err)
	if !ok {
		return faultsOf(s.where, "", err)
	}
	var faults []fault
	for _, p := range problems {
		if text, ok := find(v, p.Path); ok && p.Cause != nil {
			faults = append(faults, faultsOf(s.at(p.Path), text.Text(), p.Cause)...)
			continue
		}
		faults = append(faults, fault{text: s.at(p.Path) + p.Message})
	}
	return faults
}
