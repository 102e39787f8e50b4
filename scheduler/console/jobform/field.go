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
	KindArea    = "area"    // a text of several lines
	KindWord    = "word"    // one of some words
	KindBoolean = "boolean" // a box to tick
	KindSecret  = "secret"
	KindObject  = "object" // fields of its own
	KindMap     = "map"    // rows of a name and a value
	KindItems   = "items"  // objects, one after the other
)

// Field is a field of a form, or several that belong together.
type Field struct {
	Kind string
	Name string // of the input
	ID   string // of the element
	Path string // in the document that was read

	Label, Hint, Default, Example string

	Required bool
	Code     bool // its text is for machines

	Text    string
	Choices []Choice // of a word, in their order
	On      bool     // of a boolean
	Secret  *Secret

	Fields []*Field // of an object
	More   []*Field // of an object, those that are hardly ever used
	Open   bool     // one of these has something
	Rows   []*Row   // of a map
	Items  []*Field // objects

	Retypes bool // a word that other fields depend on: of another one the form has others

	Problems []string
	Focus    bool // it is new
	Try      bool // it can be tried out
}

// Choice is a word that may be chosen.
type Choice struct {
	Value, Text string
	Chosen      bool
}

// Secret is what a form has of a secret: never the text.
type Secret struct {
	Name   string // of the inputs, before ~how, ~text and ~ref
	How    []Choice
	Ref    string   // the name of a shared secret
	Shared []string // those that there are
	Again  bool     // one was typed, and is to be typed again: a page never has it
	Lines  bool     // it has several
}

// Row is a name with its value.
type Row struct {
	Name     string // of the inputs
	ID       string
	Path     string
	Key      string
	Text     string
	Lines    bool     // the text has several
	How      []Choice // what the value is; nil: a text
	Is       string   // the one of these that is chosen
	Hidden   bool     // the text is a secret
	Again    bool     // one was typed, and is to be typed again: a page never has it
	Ref      string   // the name of a shared secret
	Shared   []string // those that there are
	Problems []string
	Focus    bool
}

// Hows of a secret or of the value of a row.
const (
	howKeep    = "keep" // it is stored and stays
	howText    = "text" // it is typed
	howRef     = "ref"  // it names a shared one
	howNone    = "none"
	howNumber  = "number"
	howBoolean = "boolean"
)

// each calls do for the field and those in it.
func (f *Field) each(do func(f *Field)) {
	do(f)
	for _, inner := range slices.Concat(f.Fields, f.More, f.Items) {
		inner.each(do)
	}
}

// wrong reports whether something is wrong with the field, or with one in it.
func (f *Field) wrong() bool {
	found := false
	f.each(func(f *Field) { found = found || len(f.Problems) > 0 })
	return found
}

// filled reports whether a field, or one in it, has something.
func (f *Field) filled() bool {
	found := false
	f.each(func(f *Field) {
		word := slices.ContainsFunc(f.Choices, func(c Choice) bool { return c.Chosen && c.Value != "" })
		secret := f.Secret != nil && (f.Secret.Again || slices.ContainsFunc(f.Secret.How, func(c Choice) bool {
			return c.Chosen && (c.Value == howKeep || c.Value == howRef)
		}))
		found = found || f.Text != "" || f.On || word || secret || len(f.Rows) > 0 || len(f.Items) > 0
	})
	return found
}

// Without is what holds without the field, where nothing else says it: a choice has it as one of its words, and what is
// required is not left out.
func (f *Field) Without() string {
	if f.Required || f.Kind == KindWord {
		return ""
	}
	return f.Default
}

// DescribedBy are the ids of what is said about the field, for assistive technology.
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

// spot is where a field stands.
type spot struct {
	name string // in the form
	path string // in the document that is read
	was  string // in the document that there was; the same unless rows were added or removed
	key  string // the path without indexes, as descriptions have it
}

func (s spot) member(name string) spot {
	return spot{document.MemberPath(s.name, name), document.MemberPath(s.path, name), document.MemberPath(s.was, name), s.key + "." + name}
}

// newField returns the field of a member.
func newField(kind string, s *document.Shape, at spot) *Field {
	d, _ := schema.Describe("job" + at.key)
	hint := d.Text
	if bounds := schema.Bounds(s); bounds != "" {
		hint = strings.TrimSpace(hint + " " + words.Say("jobform.bounds", bounds))
	}
	name := at.key[strings.LastIndexByte(at.key, '.')+1:]
	return &Field{
		Kind: kind, Name: at.name, ID: "f-" + at.name, Path: at.path, Label: label(name), Hint: hint, Default: d.Default,
		Example: d.Example, Required: s.Required,
	}
}

// label is what a member is called for people: that of the catalogue, or its name as words.
func label(name string) string {
	if key := "jobform.label." + name; words.Has(key) {
		return words.Say(key)
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

// often are members that are shown at once, beside those that are required. The others stand behind a fold, which is open
// when one of them has something.
var often = map[string]bool{
	"action": true, "request": true, "type": true, "method": true, "uri": true, "headers": true, "body": true, "message": true,
	"mode": true, "subject": true, "replyTo": true, "expectStream": true, "authentication": true, "sasKeyName": true, "sasKey": true,
	"customMessageProperties": true, "retryPolicy": true, "retryType": true, "retryCount": true,
	"retryInterval": true, "errorAction": true, "username": true, "password": true, "pfx": true, "scope": true, "audience": true,
	"secretRef": true, "frequency": true, "interval": true, "cron": true, "rrule": true, "count": true,
}

// areas are texts that usually have several lines.
var areas = map[string]bool{"body": true, "message": true, "description": true, "rrule": true}

// codes are texts for machines, which are shown in letters of one width.
var codes = map[string]bool{"body": true, "message": true, "uri": true, "cron": true, "rrule": true, "subject": true, "data": true}
