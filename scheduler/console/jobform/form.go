package jobform

import (
	"embed"
	"net/url"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Files are the templates of a form, for a page that shows one: parse them into the page's own with ParseFS(Files, "*.html").
// {{template "jobform" READING}} writes all sections, {{template "jobform-section" SECTION}} one of them, and
// {{template "jobform-problems" READING}} what is wrong, with links to the fields. The page needs the assets "jobform/jobform.js"
// and "jobform/jobform.css", and the form element the attribute data-jobform.
//
//go:embed *.html
var Files embed.FS

// Form is the form of jobs. It may be used by any number of requests at once.
type Form struct {
	shape *document.Shape
	names map[string]bool // of members in lower case; true: it is a secret somewhere
}

// New returns the form of documents of a shape: of jobs, without an envelope, as service.Service.JobShape tells it.
func New(shape *document.Shape) *Form {
	f := &Form{shape, map[string]bool{}}
	namesOf(shape.Members, f.names)
	return f
}

// Input is what a form is made of.
type Input struct {
	// Document is the job that is edited, or from which a new one begins, without an envelope and without secrets.
	Document document.Value

	// Stored are the paths of secrets that are stored, and that Document does not show.
	Stored []string

	// Values are what was typed. Nil: nothing yet, so that the fields show Document.
	Values url.Values

	// New has the fields name and collection, which a job keeps once it is there.
	New bool

	// Collections are those that a new job may be in, and Secrets the names of shared secrets.
	Collections, Secrets []string

	// Tries has a button beside each errorAction that tries it out: its value is try: with the path of the errorAction.
	Tries bool

	// Except are members of the document that another part of the page has fields for, such as recurrence.
	Except []string
}

// Do is the name of buttons that change the form: their values begin with add: and remove:, and go on with the name of what
// gets another row, or of the row that goes.
const Do = "do"

// Reading is a form with what was typed into it.
type Reading struct {
	// Document is what was typed, over the document that the form began with. It may have secrets.
	Document document.Value

	Sections []*Section

	// Problems are what is wrong with the fields themselves. [Reading.Place] adds what is wrong with the document.
	Problems []Wrong

	// Typed are the paths of secrets that were typed, and that stand in Document.
	Typed []string

	// Kept are the paths of stored secrets that stay, and that Document does not show.
	Kept []string

	// Reshaped says that a row was added or removed: the form is to be shown again.
	Reshaped bool
}

// Section is a part of a form under a heading.
type Section struct {
	ID     string
	Fields []*Field
	More   []*Field // those that are hardly ever used
	Open   bool     // one of these has something
}

// Alone reports whether all fields of the section are those of one object, which needs no frame of its own.
func (s *Section) Alone() bool {
	return len(s.Fields) == 1 && len(s.More) == 0 && s.Fields[0].Kind == KindObject
}

// Title and Hint are the heading of the section and what is said below it, "" for nothing.
func (s *Section) Title() string { return words.Say("jobform.section." + s.ID) }

// Hint is what is said below the heading.
func (s *Section) Hint() string {
	if key := "jobform.section-hint." + s.ID; words.Has(key) {
		return words.Say(key)
	}
	return ""
}

// sections are where the members of a job stand in a form. The last one has all others.
var sections = []struct {
	id      string
	members []string
}{
	{"identity", []string{"collection", "name", "description", "labels", "state"}},
	{"schedule", []string{"startTime", "recurrence", "timeZone", "dst"}},
	{"action", []string{"action"}},
	{"retry", nil},   // of the action
	{"failure", nil}, // likewise
	{"more", nil},
}

// Read returns the form of a document, with what was typed into it.
func (f *Form) Read(in Input) *Reading {
	w := &walker{in: in, reading: &Reading{}, values: in.Values, do: in.Values.Get(Do)}
	root := &Field{Kind: KindObject}
	v, _ := w.members(root, f.shape.Members, f.shape.Members.Known, spot{}, in.Document, true)
	w.reading.Document = v
	w.reading.Reshaped = w.reading.Reshaped || strings.HasPrefix(w.do, "retype:")
	w.keep()
	w.reading.Sections = arrange(slices.Concat(root.Fields, root.More))
	return w.reading
}

// arrange puts the fields of a job into sections.
func arrange(fields []*Field) []*Section {
	var all []*Section
	taken := map[*Field]bool{}
	for _, s := range sections {
		section := &Section{ID: s.id}
		for _, name := range s.members {
			for _, f := range fields {
				if f.Path != name {
					continue
				}
				taken[f] = true
				section.Fields = append(section.Fields, f)
			}
		}
		switch s.id {
		case "retry":
			section.take(fields, "action", "action.retryPolicy")
		case "failure":
			section.take(fields, "action", "action.errorAction")
		case "more":
			for _, f := range fields {
				if !taken[f] {
					section.Fields = append(section.Fields, f)
				}
			}
		}
		if len(section.Fields) > 0 {
			all = append(all, section)
		}
	}
	return all
}

// take moves a field of an object into the section.
func (s *Section) take(fields []*Field, object, path string) {
	for _, f := range fields {
		if f.Path != object {
			continue
		}
		for _, list := range []*[]*Field{&f.Fields, &f.More} {
			if i := slices.IndexFunc(*list, func(f *Field) bool { return f.Path == path }); i >= 0 {
				s.Fields = append(s.Fields, (*list)[i])
				*list = slices.Delete(*list, i, i+1)
			}
		}
	}
}

// Place puts problems of the document beside the fields that they are about, or beside what these stand in. Those that are
// about no field are in [Reading.Problems] alone.
func (r *Reading) Place(problems document.Problems) {
	var all []target
	r.each(func(f *Field) {
		all = append(all, target{f.Path, f.ID, f.Label, &f.Problems})
		for _, row := range f.Rows {
			all = append(all, target{row.Path, row.ID, f.Label, &row.Problems})
		}
	})
	for _, p := range problems {
		wrong := Wrong{Path: strings.TrimPrefix(p.Path, "properties."), Message: p.Message}
		if t := nearest(all, wrong.Path); t != nil {
			*t.problems = append(*t.problems, p.Message)
			wrong.Field, wrong.Label = t.id, t.label
		}
		r.Problems = append(r.Problems, wrong)
	}
	r.open()
}

// target is what problems may be about.
type target struct {
	path, id, label string
	problems        *[]string
}

// nearest returns what stands at a path, or the nearest around it; nil for none.
func nearest(all []target, path string) *target {
	for path != "" {
		for i := range all {
			if strings.EqualFold(all[i].path, path) {
				return &all[i]
			}
		}
		path = outer(path)
	}
	return nil
}

// outer returns the path of what something stands in.
func outer(path string) string {
	if strings.HasSuffix(path, `"]`) {
		return path[:max(strings.Index(path, `["`), 0)]
	}
	return path[:max(strings.LastIndexAny(path, ".["), 0)]
}

// each calls do for all fields.
func (r *Reading) each(do func(f *Field)) {
	for _, s := range r.Sections {
		for _, f := range slices.Concat(s.Fields, s.More) {
			f.each(do)
		}
	}
}

// open opens what has problems.
func (r *Reading) open() {
	for _, s := range r.Sections {
		for _, f := range s.More {
			s.Open = s.Open || f.wrong()
		}
		for _, f := range slices.Concat(s.Fields, s.More) {
			f.each(func(f *Field) {
				f.Open = f.Open || slices.ContainsFunc(f.More, (*Field).wrong)
			})
		}
	}
}

// Wrong is something that is wrong, and the field that it is about.
type Wrong struct {
	Path, Message string
	Field         string // the id of the element; "" for none
	Label         string // of the field
}
