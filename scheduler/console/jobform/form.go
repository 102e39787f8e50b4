package jobform

import (
	"embed"
	"net/url"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Files are the templates of a form, for a page that shows one: parse them into the page's own with ParseFS(Files,
// "*.html"). {{template "jobform-section" SECTION}} writes a section. The page needs the assets "jobform/jobform.js" and
// "jobform/jobform.css", and the form element the attribute data-jobform.
//
//go:embed *.html
var Files embed.FS

// Form is the form of jobs. It is safe for concurrent use.
type Form struct {
	shape *document.Shape
	names map[string]bool // of fields in lower case; true: a secret somewhere
}

// New returns the form for documents of a shape: jobs without an envelope, as in service.Service.JobShape.
func New(shape *document.Shape) *Form {
	f := &Form{shape, map[string]bool{}}
	namesOf(shape.Members, f.names)
	return f
}

// Input is the input of a form.
type Input struct {
	// Document is the edited job, or the template of a new one, without an envelope and without secrets.
	Document document.Value

	// Stored are the paths of stored secrets, which Document does not contain.
	Stored []string

	// Values are the submitted values. nil: not submitted, and the fields show Document.
	Values url.Values

	// New adds the fields name and collection, which are fixed after the job's creation.
	New bool

	// Collections are the possible collections of a new job, and Secrets the names of shared secrets.
	Collections, Secrets []string

	// Tries adds a test run button to each error action. Its value is try: with the path of the error action.
	Tries bool

	// Except are fields of the document that another part of the page shows, such as recurrence.
	Except []string
}

// Do is the name of buttons that change the form. Their values are add: or remove:, followed by the name of the list
// that gets a row, or of the removed row.
const Do = "do"

// Reading is a form with the submitted values.
type Reading struct {
	// Document is the original document with the submitted values. It may contain secrets.
	Document document.Value

	Sections []*Section

	// Problems are the problems of fields. [Reading.Place] adds those of the document.
	Problems []Wrong

	// Typed are the paths of typed secrets, which Document contains.
	Typed []string

	// Kept are the paths of stored secrets that stay, which Document does not contain.
	Kept []string

	// Reshaped: a row was added or removed, and the form must be shown again.
	Reshaped bool
}

// Section is a part of a form under a heading.
type Section struct {
	ID     string
	Fields []*Field
}

// Alone reports whether the section consists of one object, which needs no frame.
func (s *Section) Alone() bool {
	return len(s.Fields) == 1 && s.Fields[0].Kind == KindObject
}

// Title returns the heading of the section.
func (s *Section) Title() string { return words.Text("jobform.section." + s.ID) }

// Hint returns the text below the heading, "" for none.
func (s *Section) Hint() string {
	if key := "jobform.section-hint." + s.ID; words.Has(key) {
		return words.Text(key)
	}
	return ""
}

// sections are the parts of a form with the paths of their fields. The last one has all others.
var sections = []struct {
	id    string
	paths []string
}{
	{"identity", []string{"collection", "name", "description", "labels", "state"}},
	{"schedule", []string{"startTime", "recurrence", "timeZone", "dst"}},
	{"trigger", []string{"trigger", "onSuccess", "onFailure"}},
	{"action", []string{"action"}},
	{"retry", []string{"action.retryPolicy"}},
	{"failure", []string{"action.errorAction"}},
	{"more", nil},
}

// Read returns the form of a document with the submitted values.
func (f *Form) Read(in Input) *Reading {
	w := &walker{in: in, reading: &Reading{}, values: in.Values, do: in.Values.Get(Do)}
	root := &Field{Kind: KindObject}
	w.reading.Document = w.members(root, f.shape.Members, location{}, in.Document)
	w.reading.Reshaped = w.reading.Reshaped || strings.HasPrefix(w.do, "retype:")
	w.reading.Sections = arrange(root.Fields)
	return w.reading
}

// arrange moves the fields of a job, and of its action, to sections.
func arrange(fields []*Field) (all []*Section) {
	lists := []*[]*Field{&fields}
	for _, f := range fields {
		lists = append(lists, &f.Fields, &f.More)
	}
	for _, s := range sections {
		section := &Section{ID: s.id}
		for _, path := range s.paths {
			for _, list := range lists {
				if i := slices.IndexFunc(*list, func(f *Field) bool { return f.Path == path }); i >= 0 {
					section.Fields = append(section.Fields, (*list)[i])
					*list = slices.Delete(*list, i, i+1)
				}
			}
		}
		if s.paths == nil {
			section.Fields = fields
		}
		if len(section.Fields) > 0 {
			all = append(all, section)
		}
	}
	return all
}

// Place assigns problems of the document to their fields, or to the nearest surrounding ones. Problems without a field
// are in [Reading.Problems] only.
func (r *Reading) Place(problems document.Problems) {
	fields := r.fields()
	var targets []target
	for _, f := range fields {
		targets = append(targets, target{f.Path, f.ID, f.Label, &f.Problems})
		for _, row := range f.Rows {
			targets = append(targets, target{row.Path, row.ID, f.Label, &row.Problems})
		}
	}
	for _, p := range problems {
		wrong := Wrong{Path: strings.TrimPrefix(p.Path, "properties."), Message: p.Message}
		if t := nearest(targets, wrong.Path); t != nil {
			*t.problems = append(*t.problems, p.Message)
			wrong.Field, wrong.Label = t.id, t.label
		}
		r.Problems = append(r.Problems, wrong)
	}
	for _, f := range fields {
		f.Open = f.Open || slices.ContainsFunc(f.More, (*Field).wrong)
	}
}

// target is a field that can have problems.
type target struct {
	path, id, label string
	problems        *[]string
}

// nearest returns the target at a path, or the nearest one around it; nil for none.
func nearest(all []target, path string) *target {
	for path != "" {
		for i := range all {
			if strings.EqualFold(all[i].path, path) {
				return &all[i]
			}
		}
		path = Outer(path)
	}
	return nil
}

// Outer returns the path of the surrounding object or list.
func Outer(path string) string {
	if strings.HasSuffix(path, `"]`) {
		return path[:max(strings.LastIndex(path, `["`), 0)]
	}
	return path[:max(strings.LastIndexAny(path, ".["), 0)]
}

// fields returns all fields.
func (r *Reading) fields() (list []*Field) {
	for _, s := range r.Sections {
		list = append(list, all(s.Fields)...)
	}
	return list
}

// Wrong is a problem with its field.
type Wrong struct {
	Path, Message string
	Field         string // the id of the element; "": none
	Label         string // of the field
}

// Filled reports whether the section has a value or a problem.
func (s *Section) Filled() bool {
	return slices.ContainsFunc(s.Fields, func(f *Field) bool { return f.filled() || f.wrong() })
}

//go:embed assets
var assets embed.FS

// AssetSection has the scripts and styles of forms, and no page.
func AssetSection() frame.Section {
	return frame.Section{Name: "jobform", Assets: assets}
}
