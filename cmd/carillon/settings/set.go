package settings

import (
	"reflect"

	"github.com/alecthomas/kong"
)

// Setting is one of a command's flags, with its value and where that comes from.
type Setting struct {
	Name   string
	Origin Origin

	flag *kong.Flag
}

// Origin is where a value comes from: the command line, a variable, a line of a file, or, if none of these has it, the
// default.
type Origin struct {
	Flag     bool
	Variable string // its name
	File     string
	Line     int // from 1; 0: not in a file

	column int
}

// String returns it as people read it.
func (o Origin) String() string {
	switch {
	case o.Flag:
		return "flag"
	case o.Variable != "":
		return "variable " + o.Variable
	case o.Line > 0:
		return place(o.File, o.Line)
	}
	return "default"
}

// Set is all settings of a command, in the order in which its help has them.
type Set []Setting

// Flags are the flags of a command that are settings.
func Flags(command *kong.Node) (all []*kong.Flag) {
	for _, flag := range command.Flags {
		if flag.Name != "help" && flag.Tag.Get("setting") != "-" {
			all = append(all, flag)
		}
	}
	return all
}

// Live reports whether the setting counts without a restart.
func (s Setting) Live() bool { return s.flag.Tag.Has("live") }

func (s Setting) value() any { return s.flag.Target.Interface() }

// Changed returns the names of those settings of a command whose values are others in next.
func (s Set) Changed(next Set, live bool) (names []string) {
	for i, one := range s {
		if one.Live() == live && !reflect.DeepEqual(one.value(), next[i].value()) {
			names = append(names, one.Name)
		}
	}
	return names
}

func (s Set) find(name string) (Setting, bool) {
	for _, one := range s {
		if one.Name == name {
			return one, true
		}
	}
	return Setting{}, false
}
