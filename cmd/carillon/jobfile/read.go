package jobfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Job is one document of a job file: a job, or the collection of some.
type Job struct {
	File string
	Key  scheduler.Key
	Body []byte // JSON
}

// Reader reads job files.
type Reader struct {
	// Lookup finds the variables of ${CARILLON_…}. Required.
	Lookup Lookup

	// Collection is where jobs go that name none. Default: default.
	Collection string

	// Stdin is what the path - stands for. Default: nothing.
	Stdin io.Reader
}

// stdinName is how problems call standard input.
const stdinName = "standard input"

// Read reads files. A job that an earlier one of them defines already is a
// problem.
func (r Reader) Read(files []string) (jobs []Job, problems []Problem) {
	first := map[scheduler.Key]string{}
	for _, file := range files {
		found, wrong := r.readFile(file)
		for _, j := range found {
			if other, twice := first[j.Key]; twice {
				wrong = append(wrong, Problem{File: j.File, Job: j.Name(), Message: "is defined in " + other + " already"})
				continue
			}
			first[j.Key] = j.File
		}
		problems = append(problems, wrong...)
		if len(wrong) == 0 {
			jobs = append(jobs, found...)
		}
	}
	return jobs, problems
}

func (r Reader) readFile(file string) ([]Job, []Problem) {
	data, err := r.load(file)
	if file == Stdin {
		file = stdinName
	}
	if err != nil {
		return nil, []Problem{{File: file, Message: terminal.WithoutPath(err).Error()}}
	}
	docs, err := document.ParseAll(data)
	if err != nil {
		return nil, problemsOf(file, "", err)
	}
	docs = flatten(docs)
	var jobs []Job
	var problems []Problem
	for i, doc := range docs {
		j, err := r.job(file, doc, len(docs) == 1)
		if err != nil {
			at := file
			if len(docs) > 1 {
				at = fmt.Sprintf("%s (document %d)", file, i+1)
			}
			problems = append(problems, problemsOf(at, "", err)...)
			continue
		}
		jobs = append(jobs, j)
	}
	return jobs, problems
}

func (r Reader) load(file string) ([]byte, error) {
	if file != Stdin {
		return os.ReadFile(file)
	}
	if r.Stdin == nil {
		return nil, errors.New("is not connected")
	}
	return io.ReadAll(r.Stdin)
}

// flatten replaces a list, as the API returns it, by its elements.
func flatten(docs []document.Value) []document.Value {
	var all []document.Value
	for _, doc := range docs {
		list, ok := doc.Member("value")
		if ok && list.Kind() == document.KindArray {
			all = append(all, list.Items()...)
			continue
		}
		all = append(all, doc)
	}
	return all
}

// job makes a job of a document. only tells that it has its file to itself, so
// that the file can name it.
func (r Reader) job(file string, doc document.Value, only bool) (Job, error) {
	if doc.Kind() != document.KindObject {
		return Job{}, document.Problem{Message: "must be an object, not " + doc.Kind().String()}
	}
	e := expander{lookup: r.Lookup}
	doc = e.value(doc, "")
	if e.problems != nil {
		return Job{}, e.problems
	}
	if isCollection(doc) {
		return r.collection(file, doc, only)
	}
	k, err := r.key(file, doc, only)
	if err != nil {
		return Job{}, err
	}
	return Job{File: file, Key: k, Body: doc.JSON()}, k.Validate()
}

// key finds out what a document's job is called.
func (r Reader) key(file string, doc document.Value, only bool) (scheduler.Key, error) {
	name, collection := text(doc, "name"), text(doc, "collection")
	switch {
	case name != "":
	case !only:
		return scheduler.Key{}, document.Problem{Path: "name", Message: "is missing: among several jobs of a file, each must have one"}
	case file == stdinName:
		return scheduler.Key{}, document.Problem{Path: "name", Message: "is missing"}
	default:
		name = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	}
	if c, job, cut := strings.Cut(name, "/"); cut {
		return scheduler.Key{Collection: c, Job: job}, nil
	}
	return scheduler.Key{Collection: cmp.Or(collection, r.Collection, scheduler.DefaultCollection), Job: name}, nil
}

// text returns a member that is a string, "" for any other. One of the wrong
// kind is reported by the scheduler.
func text(doc document.Value, name string) string {
	v, _ := doc.Member(name)
	if v.Kind() != document.KindString {
		return ""
	}
	return v.Text()
}
