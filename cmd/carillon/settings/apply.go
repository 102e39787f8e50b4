package settings

import (
	"github.com/alecthomas/kong"

	"github.com/carillon-sched/carillon/cmd/carillon/jobfile"
)

// Apply gives the flags of a command that was parsed what a file says, unless the command line or the environment does,
// and then calls check, whose errors begin with the flag that they are about. No path is no file. The error is [Problems]
// when anything is wrong with the file, else that of check.
func Apply(command *kong.Context, path string, lookup func(string) (string, bool), check func() error) (Set, error) {
	f := &file{path: path}
	if path != "" {
		if f = read(path); f.problems != nil {
			return nil, f.problems
		}
	}
	typed := map[*kong.Flag]bool{}
	for _, step := range command.Path {
		typed[step.Flag] = true
	}
	flags := Flags(command.Selected())
	set := make(Set, len(flags))
	for i, flag := range flags {
		set[i] = Setting{Name: flag.Name, flag: flag, Origin: given(flag, typed, lookup)}
		value, ok := f.take(flag.Name)
		if !ok {
			continue
		}
		read, err := decode(flag, value)
		switch {
		case err != nil:
			f.problem(flag.Name, err.Error())
		case set[i].Origin == Origin{}:
			flag.Target.Set(read)
			set[i].Origin.File = path
			set[i].Origin.Line, set[i].Origin.column = f.place(flag.Name)
		}
	}
	misread := f.problems
	f.unknown(flags)
	var wrong []error
	for _, err := range each(check()) {
		if !misread.about(err) { // it would say what follows from that
			wrong = append(wrong, err)
		}
	}
	return set, set.located(f.problems, wrong)
}

// given is where the value of a flag comes from that was parsed, without a file.
func given(flag *kong.Flag, typed map[*kong.Flag]bool, lookup func(string) (string, bool)) Origin {
	if typed[flag] {
		return Origin{Flag: true}
	}
	for _, name := range flag.Tag.Envs {
		if _, ok := lookup(name); ok {
			return Origin{Variable: name}
		}
	}
	return Origin{}
}

// Problems are all that is wrong with settings.
type Problems []jobfile.Problem
