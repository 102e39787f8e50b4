package jobform

import (
	"slices"
	"strings"
	"unicode"

	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/schema"
)

// The kinds of fields.
const (
	KindText    = "text"
	KindArea    = "area"    // a text with several lines
	KindWord    = "word"    // one of several words
	KindBoolean = "boolean" // a checkbox
	KindSecret  = "secret"
	KindObject  = "object" // a group of fields
	KindMap     = "map"    // rows of a name and a value
	KindItems   = "items"  // a list of objects
)

// Field is a field of a form, or a group of fields.
type Field struct {
	Kind string
	Name string // of the input
	ID   string // of the element
	Path string // in the parsed document

	Label, Hint, Default, Example string

	Required bool
	Code     bool // monospaced text

	Text    string
	Choices []Choice // of a word, in order
	On      bool     // of a boolean
	Secret  *Secret

	Fields []*Field // of an object
	More   []*Field // of an object: rarely used fields
	Open   bool     // one of these has a value
	Rows   []*Row   // of a map
	Items  []*Field // objects

	Retypes bool // a word that determines which other fields exist

	Problems []string
	Focus    bool // it is new
	Try      bool // supports a test run
}

// Choice is a selectable word.
type Choice struct {
	Value, Text string
	Chosen      bool
}

// Secret is the state of a secret, without its text.
type Secret struct {
	Name   string   // of the inputs, without the suffixes ~how, ~text, ~value and ~ref
	How    []Choice // the sources; nil for a row without a choice
	Ref    string   // the name of a shared secret
	Shared []string // names of all shared secrets
	Again  bool     // a typed secret must be typed again, because pages do not contain it
	Lines  bool     // several lines
}

// Row is a name with its value, which may be a secret.
type Row struct {
	Secret

	ID       string
	Path     string
	Key      string
	Text     string
	Is       string // the selected kind of value
	Hidden   bool   // the text is a secret
	Problems []string
	Focus    bool
}

// The sources of a secret, or of the value of a row.
const (
	howKeep    = "keep" // the stored one
	howText    = "text" // typed
	howRef     = "ref"  // a shared secret
	howNone    = "none"
	howNumber  = "number"
	howBoolean = "boolean"
)

// all returns fields with their descendants.
func all(fields []*Field) (list []*Field) {
	for _, f := range fields {
		list = append(append(list, f), all(slices.Concat(f.Fields, f.More, f.Items))...)
	}
	return list
}

// wrong reports whether the field or a descendant has a problem.
func (f *Field) wrong() bool {
	return slices.ContainsFunc(all([]*Field{f}), func(f *Field) bool { return len(f.Problems) > 0 })
}

// filled reports whether the field or a descendant has a value.
func (f *Field) filled() bool {
	return slices.ContainsFunc(all([]*Field{f}), func(f *Field) bool {
		word := slices.ContainsFunc(f.Choices, func(c Choice) bool { return c.Chosen && c.Value != "" })
		secret := f.Secret != nil && (f.Secret.Again || slices.ContainsFunc(f.Secret.How, func(c Choice) bool {
			return c.Chosen && (c.Value == howKeep || c.Value == howRef)
		}))
		return f.Text != "" || f.On || word || secret || len(f.Rows) > 0 || len(f.Items) > 0
	})
}

// Without returns the default, unless the form shows it otherwise: a choice lists it as a word, and a required field
// has none.
func (f *Field) Without() string {
	if f.Required || f.Kind == KindWord {
		return ""
	}
	return f.Default
}

// DescribedBy returns the ids of the field's descriptions, for assistive technology.
func (f *Field) DescribedBy() string {
	var ids []string
	if f.Hint != "" || f.Without() != "" {
		ids = append(ids, f.ID+"-hint")
	}
	if len(f.Problems) > 0 {
		ids = append(ids, f.ID+"-wrong")
	}
	return strings.Join(ids, " ")
}

// location is the position of a field.
type location struct {
	name string // in the form
	path string // in the parsed document
	was  string // in the original document; differs after rows were added or removed
	key  string // the path without indexes, as in descriptions
}

func (s location) member(name string) location {
	return location{
		document.MemberPath(s.name, name), document.MemberPath(s.path, name), document.MemberPath(s.was, name), s.key + "." + name,
	}
}

// newField returns the field of a document field.
func newField(kind string, s *document.Shape, at location) *Field {
	d, _ := schema.Describe("job" + at.key)
	hint := d.Text
	if least, most, ok := strings.Cut(schema.Bounds(s), " to "); ok {
		hint = strings.TrimSpace(hint + " " + words.Text("jobform.bounds", least, most))
	}
	name := lastName(at.key)
	return &Field{
		Kind: kind, Name: at.name, ID: "f-" + at.name, Path: at.path, Label: label(name), Hint: hint, Default: d.Default,
		Example: d.Example, Required: s.Required,
	}
}

// label returns the label of a field: from the catalogue, or its name split into words.
func label(name string) string {
	if key := "jobform.label." + name; words.Has(key) {
		return words.Text(key)
	}
	var b strings.Builder
	for i, r := range name {
		switch {
		case i == 0:
			b.WriteRune(unicode.ToUpper(r))
		case unicode.IsUpper(r):
			b.WriteByte(' ')
			b.WriteRune(unicode.ToLower(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// often are fields that are always visible, like required ones. Others are folded unless one of them has a value.
var often = strings.Fields(`action request type method uri headers body message mode subject replyTo expectStream authentication sasKeyName
	sasKey customMessageProperties retryPolicy retryType retryCount retryInterval errorAction username password pfx scope audience
	source job outcome filter key secretRef frequency interval cron rrule count`)

// areas are texts that usually have several lines.
var areas = []string{"body", "message", "description", "rrule"}

// codes are texts that are shown monospaced.
var codes = []string{"body", "message", "uri", "cron", "rrule", "subject", "data", "filter", "key", "unless", "delay"}
