package settings

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/cmd/carillon/jobfile"
)

// errFile is the cause of what is wrong with the content of a file.
var errFile = errors.New("the settings are not in order")

// Error returns one line for each problem.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// sorted returns the problems in the order of the file.
func (ps Problems) sorted() Problems {
	slices.SortStableFunc(ps, func(a, b jobfile.Problem) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	return ps
}

func place(file string, line int) string { return fmt.Sprintf("%s:%d", file, line) }

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

// located adds errors about flags to what is wrong with the file, with the place of those that stand there. Where none is
// about the file, they stay as they are.
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
	setting, ok := s.find(m[1])
	if !ok || setting.Origin.Line == 0 {
		return p
	}
	p.File, p.Line, p.Column, p.Path, p.Cause = setting.Origin.File, setting.Origin.Line, setting.Origin.column, setting.Name, errFile
	if m[2] != "" {
		p.Message = strings.TrimPrefix(p.Message, m[0])
	}
	return p
}

// each returns the errors that were joined.
func each(err error) (all []error) {
	joined, ok := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
		return nil
	case !ok:
		return []error{err}
	}
	for _, one := range joined.Unwrap() {
		all = append(all, each(one)...)
	}
	return all
}
