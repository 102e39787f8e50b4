package edit

import (
	"errors"
	"regexp"
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
		b.WriteString("# " + e.call.Text("edit.yaml.stored", path) + "\n")
	}
	secrets := e.section.form().SecretsIn(v)
	for _, path := range secrets {
		b.WriteString("# " + e.call.Text("edit.yaml.typed", path) + "\n")
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
		err = document.Problem{Message: e.call.Text("edit.yaml.one", len(file.Documents))}
	}
	if err == nil && file.Documents[0].Kind() != document.KindObject {
		err = document.Problem{Message: e.call.Text("edit.yaml.object", file.Documents[0].Kind())}
	}
	if err != nil {
		t.refuse(err)
		t.Text, t.Redacted = redact(t.Text, e.section.form().IsSecret)
		return
	}
	t.file, t.parsed = file, true
	v := file.Documents[0]
	secrets := e.section.form().SecretsIn(v)
	e.redact(v, secrets)
	for _, m := range v.Members() {
		if strings.EqualFold(m.Name, "properties") && m.Value.Kind() == document.KindObject {
			v, t.wrapped = m.Value, true
		}
	}
	e.valid = true
	whole := file.Documents[0]
	for name, want := range map[string][]string{"name": {e.Key.Job, e.Key.String()}, "collection": {e.Key.Collection}} {
		if is := jobform.At(whole, name); is.Kind() != document.KindNull && !slices.Contains(want, is.Text()) {
			e.valid = false
			t.add(document.Problem{Path: name, Message: e.call.Text("edit.yaml.name", e.Key)})
		}
	}
	e.mine = jobform.Without(v, ownMembers)
	e.typed = e.section.form().SecretsIn(e.mine)
	e.checkLists()
}

// parse parses a text that may be a job.
func (e *editing) parse(typed string) (*document.File, error) {
	if len(typed) > maxCarried {
		return nil, document.Problem{Message: e.call.Text("edit.yaml.long", frame.Bytes(maxCarried))}
	}
	return document.ParseFile([]byte(typed))
}

// refuse stores why a text is not a document.
func (t *text) refuse(err error) {
	l := lineProblem{Line: 1, Column: 1, Message: err.Error()}
	if s, ok := errors.AsType[*document.SyntaxError](err); ok {
		l = lineProblem{Line: s.Line, Column: s.Column, Message: s.Message}
	}
	t.Wrong = append(t.Wrong, l)
}

// add assigns a problem to its line.
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

// again replaces a typed secret in a text that is shown again; withheld is its value. The scheduler refuses it with its path.
const again = `{secretRef: ""}`

var withheld = document.ObjectValue(document.Member{Name: "secretRef", Value: document.StringValue("")})

// redact removes secrets from the typed text before it is shown again. If it cannot remove them by line, it formats the
// document again, without comments.
func (e *editing) redact(v document.Value, secrets []string) {
	var texts []string
	for _, path := range secrets {
		if s := jobform.At(v, path).Text(); s != "" {
			texts = append(texts, s)
		}
	}
	if len(texts) == 0 {
		return
	}
	t := &e.Text
	redacted, _ := redact(t.Text, e.section.form().IsSecret)
	if holds(redacted, texts) || !sameBut(redacted, v, secrets) {
		redacted = string(jobform.Replaced(v, secrets, withheld).YAML())
	}
	t.Text, t.Redacted = redacted, true
}

// sameBut reports whether a text is a document except for its secrets.
func sameBut(text string, v document.Value, secrets []string) bool {
	all, err := document.ParseFile([]byte(text))
	return err == nil && len(all.Documents) == 1 && all.Documents[0].Equal(jobform.Replaced(v, secrets, withheld))
}

// holds reports whether a text contains one of some others, in any of its encodings.
func holds(text string, texts []string) bool {
	for _, t := range texts {
		quoted := document.StringValue(t).String()
		for _, form := range []string{t, quoted[1 : len(quoted)-1], strings.ReplaceAll(t, "'", "''")} {
			if strings.Contains(text, form) {
				return true
			}
		}
		for line := range strings.Lines(t) {
			if line = strings.TrimSpace(line); len(line) > 5 && strings.Contains(text, line) {
				return true
			}
		}
	}
	return false
}

// member matches the beginning of a field: its indentation with list markers, its name, and the rest of the line.
var member = regexp.MustCompile(`^([ \t]*(?:- +)*)(["']?)([A-Za-z0-9_$.\-]+)(["']?)[ \t]*:(.*)$`)

// flow matches a field in braces.
var flow = regexp.MustCompile(`(["']?)([A-Za-z0-9_$.\-]+)(["']?)[ \t]*:[ \t]*("(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?|[^,{}\[\]\n]*)`)

// redact removes the values of secret fields from a text, which may be an invalid document.
func redact(text string, isSecret func(name string) bool) (redacted string, some bool) {
	var out []string
	deeper := -1    // lines with a deeper indentation belong to a secret
	perhaps := -1   // or belong to one unless they name a shared secret
	var name string // of that field
	for line := range strings.SplitSeq(text, "\n") {
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		if trimmed := strings.TrimSpace(line); perhaps >= 0 && trimmed != "" && !strings.HasPrefix(trimmed, "#") {
			if indent > perhaps && !strings.Contains(trimmed, "secretRef") {
				out[len(out)-1], deeper, some = name+": "+again, perhaps, true
			}
			perhaps = -1
		}
		if deeper >= 0 && (strings.TrimSpace(line) == "" || indent > deeper) {
			some = true
			continue
		}
		deeper = -1
		m := member.FindStringSubmatch(line)
		inside := strings.ContainsAny(line, "{") || m == nil || strings.HasSuffix(strings.TrimSpace(line), ",")
		switch {
		case m != nil && !inside && isSecret(m[3]):
			value := strings.TrimSpace(m[5])
			if value == "" || strings.HasPrefix(value, "#") {
				perhaps, name = len(m[1]), m[1]+m[2]+m[3]+m[4]
				break
			}
			line, some = m[1]+m[2]+m[3]+m[4]+": "+again, true
			deeper = len(m[1])
		case inside:
			line = flow.ReplaceAllStringFunc(line, func(found string) string {
				f := flow.FindStringSubmatch(found)
				if !isSecret(f[2]) || strings.TrimSpace(f[4]) == "" {
					return found
				}
				some = true
				return f[1] + f[2] + f[3] + `: {"secretRef": ""}`
			})
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n"), some
}
