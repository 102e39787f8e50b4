package settings

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/carillon-sched/carillon/cmd/carillon/jobfile"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// file is a parsed settings file, by name.
type file struct {
	path     string
	text     string
	document *document.File
	members  []document.Member // those not taken yet
	problems Problems
}

// nothing matches a file that contains only comments.
var nothing = regexp.MustCompile(`^(\s*(#.*)?(\n|$))*$`)

// read reads a file.
func read(path string) *file {
	f := &file{path: path}
	data, err := load(path)
	if err != nil {
		f.problems = Problems{{File: path, Message: terminal.WithoutPath(err).Error(), Cause: terminal.FileError("config", err)}}
		return f
	}
	f.text = string(data)
	if nothing.MatchString(f.text) {
		return f
	}
	f.document, err = document.ParseFile(data)
	switch wrong, ok := errors.AsType[*document.SyntaxError](err); {
	case ok:
		f.problems = Problems{{File: path, Line: wrong.Line, Column: wrong.Column, Message: wrong.Message, Cause: errFile}}
	case err != nil:
		f.problem("", err.Error())
	case len(f.document.Documents) > 1:
		f.problem("", "holds several documents; one is expected")
	case len(f.document.Documents) == 1:
		f.hold(f.document.Documents[0])
	}
	return f
}

// hold takes the only document; nothing at all is no setting.
func (f *file) hold(v document.Value) {
	switch v.Kind() {
	case document.KindObject:
		f.members = v.Members()
	case document.KindNull:
	default:
		f.problem("", "holds "+v.Kind().String()+", and no settings, NAME: VALUE")
	}
}

// take removes and returns a setting.
func (f *file) take(name string) (document.Value, bool) {
	i := slices.IndexFunc(f.members, func(m document.Member) bool { return m.Name == name })
	if i < 0 {
		return document.Value{}, false
	}
	v := f.members[i].Value
	f.members = slices.Delete(slices.Clone(f.members), i, i+1)
	return v, true
}

// place returns the position of a setting's name, or of its value if the name does not begin a line.
func (f *file) place(name string) (line, column int) {
	if at := regexp.MustCompile(`(?m)^["']?` + regexp.QuoteMeta(name) + `["']?[ \t]*:`).FindStringIndex(f.text); at != nil {
		return strings.Count(f.text[:at[0]], "\n") + 1, 1
	}
	return f.document.Place(0, name)
}

// problem records a problem of a setting or of the file.
func (f *file) problem(name, message string) {
	p := jobfile.Problem{File: f.path, Path: name, Message: message, Cause: errFile}
	if name != "" {
		p.Line, p.Column = f.place(name)
	}
	f.problems = append(f.problems, p)
}

// unknown notes the settings that there are not.
func (f *file) unknown(flags []*kong.Flag) {
	names := terminal.All(flags, func(f *kong.Flag) string { return f.Name })
	for _, m := range f.members {
		f.problem(m.Name, "is no setting"+meant(m.Name, flags, names))
	}
}

// meant suggests the nearest setting.
func meant(name string, flags []*kong.Flag, names []string) string {
	for _, flag := range flags {
		if slices.Contains(flag.Tag.Envs, name) {
			return "; did you mean " + flag.Name + "?"
		}
	}
	plain := strings.ReplaceAll(strings.TrimLeft(name, "-"), "_", "-")
	if near := document.Nearest(plain, names); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// errFile is the cause of problems in the content of a file.
var errFile = errors.New("the settings have problems")

// Error returns one line for each problem.
func (ps Problems) Error() string {
	return strings.Join(terminal.All(ps, jobfile.Problem.String), "\n")
}

// sorted returns the problems in the order of the file.
func (ps Problems) sorted() Problems {
	slices.SortStableFunc(ps, func(a, b jobfile.Problem) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	return ps
}

// firstFlag finds the flag that a message begins with, and anyFlag all that it names.
var (
	firstFlag = regexp.MustCompile(`^--([a-z0-9-]+)(: )?`)
	anyFlag   = regexp.MustCompile(`--[a-z0-9-]+`)
)

// about reports whether an error is about a setting that has a problem.
func (ps Problems) about(err error) bool {
	return slices.ContainsFunc(ps, func(p jobfile.Problem) bool {
		return slices.Contains(anyFlag.FindAllString(err.Error(), -1), "--"+p.Path)
	})
}

// located adds errors about flags to the problems of the file, with the positions of flags that are in the file.
// If none is, the errors stay unchanged.
func (s Set) located(problems Problems, wrong []error) error {
	for _, err := range wrong {
		problems = append(problems, s.locate(err))
	}
	if slices.ContainsFunc(problems, func(p jobfile.Problem) bool { return p.File != "" }) {
		return problems.sorted()
	}
	return errors.Join(wrong...)
}

func (s Set) locate(err error) jobfile.Problem {
	p := jobfile.Problem{Message: err.Error(), Cause: err}
	m := firstFlag.FindStringSubmatch(p.Message)
	if m == nil {
		return p
	}
	i := slices.IndexFunc(s, func(one Setting) bool { return one.Name == m[1] })
	if i < 0 || s[i].Origin.Line == 0 {
		return p
	}
	from := s[i].Origin
	p.File, p.Line, p.Column, p.Path, p.Cause = from.File, from.Line, from.column, s[i].Name, errFile
	if m[2] != "" {
		p.Message = strings.TrimPrefix(p.Message, m[0])
	}
	return p
}
