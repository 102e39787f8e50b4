package edit

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/jobform"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// text is a job as YAML.
type text struct {
	Text     string
	Redacted bool // a secret was removed; the script still has it
	Wrong    []lineProblem

	file    *document.File
	wrapped bool // its properties are in an envelope
	parsed  bool
}

// lineProblem is the problem of a line.
type lineProblem struct {
	Line, Column int
	Path         string
	Message      string
}

// Link returns the link to the line.
func (l lineProblem) Link() string { return "#line-" + strconv.Itoa(l.Line) }

// Lines returns the line numbers, and whether a line has a problem.
func (t *text) Lines() []lineMark {
	n := strings.Count(jobform.Plain(t.Text), "\n") + 1
	all := make([]lineMark, n)
	for i := range all {
		all[i].Number = i + 1
		for _, w := range t.Wrong {
			if w.Line == i+1 {
				all[i].Wrong = append(all[i].Wrong, w.Message)
			}
		}
	}
	return all
}

// lineMark is the number of a line.
type lineMark struct {
	Number int
	Wrong  []string
}

// writeYAML formats a document as YAML, without secrets.
func (e *editing) writeYAML(v document.Value) {
	var b strings.Builder
	for _, path := range e.Stored {
		b.WriteString("# " + e.call.Say("edit.yaml.stored", path) + "\n")
	}
	secrets := e.room.form().SecretsIn(v)
	for _, path := range secrets {
		b.WriteString("# " + e.call.Say("edit.yaml.typed", path) + "\n")
	}
	b.Write(jobform.Without(v, secrets).YAML())
	e.Text = text{Text: b.String(), parsed: true}
}

// ownMembers are the fields outside the properties of a job, and its read-only fields.
var ownMembers = []string{"name", "collection", "id", "type", "etag", "result", "warnings", "dryRun", "status"}

// readYAML parses the typed YAML or JSON.
func (e *editing) readYAML(typed string) {
	e.Text = text{Text: jobform.Plain(typed)}
	t := &e.Text
	file, err := e.parse(t.Text)
	if err == nil && len(file.Documents) != 1 {
		err = document.Problem{Message: e.call.Say("edit.yaml.one", len(file.Documents))}
	}
	if err == nil && file.Documents[0].Kind() != document.KindObject {
		err = document.Problem{Message: e.call.Say("edit.yaml.object", file.Documents[0].Kind())}
	}
	if err != nil {
		t.refuse(err)
		t.Text, t.Redacted = redact(t.Text, e.room.form().IsSecret)
		return
	}
	t.file, t.parsed = file, true
	v := file.Documents[0]
	secrets := e.room.form().SecretsIn(v)
	e.redact(v, secrets)
	for _, m := range v.Members() {
		if strings.EqualFold(m.Name, "properties") && m.Value.Kind() == document.KindObject {
			v, t.wrapped = m.Value, true
		}
	}
	e.usable = true
	whole := file.Documents[0]
	for name, want := range map[string][]string{"name": {e.Key.Job, e.Key.String()}, "collection": {e.Key.Collection}} {
		if is := jobform.At(whole, name); is.Kind() != document.KindNull && !slices.Contains(want, is.Text()) {
			e.usable = false
			t.add(document.Problem{Path: name, Message: e.call.Say("edit.yaml.name", e.Key)})
		}
	}
	e.mine = without(v, ownMembers)
	e.typed = e.room.form().SecretsIn(e.mine)
	e.checkLists()
}

// parse parses a text that may be a job.
func (e *editing) parse(typed string) (*document.File, error) {
	if len(typed) > maxCarried {
		return nil, document.Problem{Message: e.call.Say("edit.yaml.long", frame.Bytes(maxCarried))}
	}
	return document.ParseFile([]byte(typed))
}

// without removes fields, in any letter case. Null stays, because it removes a field.
func without(v document.Value, names []string) document.Value {
	members := slices.DeleteFunc(slices.Clone(v.Members()), func(m document.Member) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, m.Name) })
	})
	return document.ObjectValue(members...)
}

// refuse stores why a text is not a document.
func (t *text) refuse(err error) {
	l := lineProblem{Line: 1, Column: 1, Message: err.Error()}
	if s, ok := errors.AsType[*document.SyntaxError](err); ok {
		l = lineProblem{Line: s.Line, Column: s.Column, Message: s.Message}
	}
	t.Wrong = append(t.Wrong, l)
}

// place assigns problems to their lines.
func (t *text) place(problems document.Problems) {
	for _, p := range problems {
		t.add(p)
	}
}

func (t *text) add(p document.Problem) {
	l := lineProblem{Line: 1, Column: 1, Path: p.Path, Message: p.Message}
	if t.file != nil {
		path := p.Path
		if t.wrapped && path != "name" && path != "collection" {
			path = strings.TrimSuffix("properties."+path, ".")
		}
		l.Line, l.Column = t.file.Place(0, path)
	}
	if p.Path != "" {
		l.Message = p.Path + ": " + p.Message
	}
	t.Wrong = append(t.Wrong, l)
}
