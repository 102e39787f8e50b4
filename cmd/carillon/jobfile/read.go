package jobfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/flow"
	"github.com/carillon-sched/carillon/scheduler/source"
	"github.com/carillon-sched/carillon/scheduler/variable"
)

// Job is one document of a job file: a job, a source of events, or the collection of some.
type Job struct {
	Source

	Key      scheduler.Key
	Body     []byte // JSON
	OfEvents bool   // it is a source of events
}

// Reader reads job files.
type Reader struct {
	// Lookup finds the variables of ${CARILLON_…}. Required.
	Lookup variable.Lookup

	// Collection is where jobs go that name none. Default: default.
	Collection string

	// Stdin is read for the path -. Default: empty.
	Stdin io.Reader

	// Name names the only document of Stdin if it has no name, or of any file with Collections. Default: it must
	// have a name, or get its file's.
	Name string

	// Collections treats all documents as collections, whatever their type.
	Collections bool
}

// stdinName is how problems call standard input.
const stdinName = "standard input"

// Read reads files. A job that an earlier one of them defines already is a
// problem.
func (r Reader) Read(files []string) (jobs []Job, problems []Problem) {
	first := map[string]string{}
	for _, file := range files {
		found, wrong := r.readFile(file)
		for _, j := range found {
			if other, twice := first[j.Name()]; twice {
				wrong = append(wrong, j.problem(j.Name(), "name", j.Name()+" is defined in "+other+" already", nil))
				continue
			}
			first[j.Name()] = j.File
		}
		problems = append(problems, wrong...)
		if len(wrong) == 0 {
			jobs = append(jobs, found...)
		}
	}
	return jobs, problems
}

func (r Reader) readFile(file string) ([]Job, []Problem) {
	data, err := Load(file, r.Stdin)
	if file == Stdin {
		file = stdinName
	}
	if err != nil {
		return nil, []Problem{unread(file, err)}
	}
	f, err := document.ParseFile(data)
	if err != nil {
		return nil, Source{File: file}.problems("", err)
	}
	docs := flatten(file, f)
	var jobs []Job
	var problems []Problem
	for _, doc := range docs {
		j, err := r.job(doc, len(docs) == 1)
		if err != nil {
			problems = append(problems, doc.problems("", err)...)
			continue
		}
		jobs = append(jobs, j)
	}
	return jobs, problems
}

// Load returns the content of a file, or of stdin if its path is [Stdin]. A file of more than 4 MiB is an error.
func Load(path string, stdin io.Reader) ([]byte, error) {
	if path != Stdin {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		stdin = f
	}
	if stdin == nil {
		return nil, errors.New("is not connected")
	}
	return flow.ReadAll(stdin, maxFile)
}

// maxFile is the limit of [document.ParseFile], in bytes.
const maxFile = 4 << 20

// sourced is a document and where it comes from.
type sourced struct {
	Source

	document.Value
}

// flatten replaces a list, as the API returns it, by its elements.
func flatten(file string, f *document.File) []sourced {
	var all []sourced
	add := func(v document.Value, i int, below string) {
		place := func(path string) (line, column int) {
			if path == "job" || path == "collection" && isCollection(v) { // the full path of the name
				path = "name"
			}
			return f.Place(i, strings.Trim(below+"."+path, "."))
		}
		all = append(all, sourced{Source{File: file, place: place}, v})
	}
	for i, doc := range f.Documents {
		list, ok := doc.Member("value")
		if ok && list.Kind() == document.KindArray {
			for k, item := range list.Items() {
				add(item, i, fmt.Sprintf("value[%d]", k))
			}
			continue
		}
		add(doc, i, "")
	}
	return all
}

// job converts a document to a job. only reports whether it is the only one of its file, which can then name it.
func (r Reader) job(doc sourced, only bool) (Job, error) {
	if doc.Kind() != document.KindObject {
		return Job{}, document.Problem{Message: "must be an object, not " + doc.Kind().String()}
	}
	v, unset := variable.Expand(doc.Value, r.Lookup)
	if unset != nil {
		return Job{}, unset
	}
	if r.Collections || isCollection(v) {
		return r.collection(doc.Source, v, only)
	}
	k, err := r.key(doc.File, v, only)
	if err != nil {
		return Job{}, err
	}
	return Job{Source: doc.Source, Key: k, Body: v.JSON(), OfEvents: isSource(v)}, k.Validate()
}

// key determines the name of a document's job.
func (r Reader) key(file string, doc document.Value, only bool) (scheduler.Key, error) {
	name, collection := text(doc, "name"), text(doc, "collection")
	switch {
	case name != "":
	case !only:
		return scheduler.Key{}, document.Problem{Path: "name", Message: "is missing: among several jobs of a file, each must have one"}
	case file == stdinName && r.Name != "":
		name = r.Name
	case file == stdinName:
		return scheduler.Key{}, document.Problem{Path: "name", Message: "is missing"}
	default:
		name = baseName(file)
		if err := scheduler.ValidateName("file", name); err != nil {
			why := scheduler.ProblemsIn(err)[0].Message
			return scheduler.Key{}, document.Problem{Path: "name", Message: "is missing, and the file cannot name the job: " + why}
		}
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

// isCollection reports whether a document is a collection, and no job.
func isCollection(doc document.Value) bool {
	for _, m := range doc.Members() {
		if strings.EqualFold(m.Name, "type") {
			return strings.EqualFold(m.Value.Text(), v1.CollectionType)
		}
	}
	return false
}

// isSource reports whether a document is a source of events, and no job.
func isSource(doc document.Value) bool { return strings.EqualFold(text(doc, "kind"), source.Kind) }

// collection converts a collection's document for apply.
func (r Reader) collection(from Source, doc document.Value, only bool) (Job, error) {
	name := text(doc, "name")
	switch {
	case name != "":
	case only && r.Name != "" && (from.File == stdinName || r.Collections):
		name = r.Name
	case !only || from.File == stdinName:
		return Job{}, document.Problem{Path: "name", Message: "is missing: a collection must have one"}
	default:
		name = baseName(from.File)
	}
	return Job{Source: from, Key: scheduler.Key{Collection: name}, Body: doc.JSON()}, scheduler.ValidateCollection(name)
}

// baseName is the name of a file without folder and extension.
func baseName(file string) string { return strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)) }

// IsCollection reports whether the document is a collection: its key names no
// job.
func (j Job) IsCollection() bool { return j.Key.Job == "" }

// Name is what messages call it; see [NameOf].
func (j Job) Name() string { return NameOf(j.Key, j.OfEvents) }

// NameOf is what messages call a document: collection/job, "source collection/name", or "collection NAME".
func NameOf(k scheduler.Key, ofEvents bool) string {
	switch {
	case k.Job == "":
		return "collection " + k.Collection
	case ofEvents:
		return "source " + k.String()
	}
	return k.String()
}

// Stdin is the path of standard input.
const Stdin = "-"

// Find returns the files that paths name, without duplicates: a file with any name, and all *.json, *.yaml and
// *.yml below a directory, in order of name, without hidden ones.
func Find(paths []string) (files []string, problems []Problem) {
	for _, path := range paths {
		found, err := find(path)
		if err != nil {
			problems = append(problems, unread(path, err))
			continue
		}
		for _, f := range found {
			if !slices.Contains(files, f) {
				files = append(files, f)
			}
		}
	}
	return files, problems
}

func find(path string) ([]string, error) {
	if path == Stdin {
		return []string{Stdin}, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	err = filepath.WalkDir(path, func(p string, e fs.DirEntry, err error) error {
		hidden := p != path && strings.HasPrefix(e.Name(), ".")
		switch {
		case err != nil:
			return err
		case hidden && e.IsDir():
			return fs.SkipDir
		case !hidden && !e.IsDir() && HasName(p):
			files = append(files, p)
		}
		return nil
	})
	if err == nil && len(files) == 0 {
		err = errors.New("holds no job files (*.json, *.yaml, *.yml)")
	}
	return files, err
}

// HasName reports whether a file is called as job files are.
func HasName(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".json", ".yaml", ".yml":
		return true
	}
	return false
}
