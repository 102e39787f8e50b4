// Package complete completes command lines for shells. It knows commands and flags from the parser's model, and
// asks the caller for values that only a scheduler or a file knows.
package complete

import (
	"embed"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Candidate is a possible word at the cursor.
type Candidate struct {
	Word string
	Help string // in few words; may be empty
}

// Place is where a value is wanted.
type Place struct {
	Name   string            // of the flag or argument: job, collection, context, …
	Holder string            // what its help calls it: FILE, URL, …; of an argument its name
	Given  map[string]string // values of earlier flags, by name
	Word   string            // how the value begins
}

// Values returns the values that are possible at a place. files reports whether file names are possible.
type Values func(Place) (values []Candidate, files bool)

// Complete returns the words that can replace the last of words, in the order found. files reports whether file
// names are possible too. words exclude the program's name; the last one may be empty.
func Complete(model *kong.Application, words []string, values Values) (found []Candidate, files bool) {
	if len(words) == 0 {
		words = []string{""}
	}
	w := walk{node: model.Node, given: map[string]string{}}
	last := len(words) - 1
	for _, word := range words[:last] {
		w.take(word)
	}
	word, prefix := words[last], ""
	var all []Candidate
	switch name, value, assigned := strings.Cut(word, "="); {
	case w.flag != nil:
		if word == "=" { // bash cuts there
			word = ""
		}
		all, files = w.valuesOf(w.flag.Value, w.flag.PlaceHolder, word, values)
	case assigned && strings.HasPrefix(name, "--") && !w.bare && w.find(name[2:]) != nil:
		word, prefix = value, name+"="
		f := w.find(name[2:])
		all, files = w.valuesOf(f.Value, f.PlaceHolder, word, values)
	case strings.HasPrefix(word, "-") && !w.bare:
		all = w.flags()
	case len(w.node.Children) > 0:
		all = commands(w.node)
	default:
		all, files = w.argument(word, values)
	}
	for _, c := range all {
		if strings.HasPrefix(c.Word, word) {
			c.Word = prefix + c.Word
			found = append(found, c)
		}
	}
	return found, files
}

// walk is how far a command line has come.
type walk struct {
	node      *kong.Node
	flag      *kong.Flag // whose value comes next
	positions int        // arguments so far
	bare      bool       // no flags follow
	given     map[string]string
}

// take processes a word.
func (w *walk) take(word string) {
	name, long := strings.CutPrefix(word, "--")
	switch {
	case w.flag != nil && word == "=":
	case w.flag != nil:
		w.given[w.flag.Name] = word
		w.flag = nil
	case word == "--" && !w.bare:
		w.bare = true
	case long && !w.bare:
		name, value, assigned := strings.Cut(name, "=")
		flag := w.find(name)
		switch {
		case flag == nil || flag.IsBool() && !assigned:
		case assigned:
			w.given[flag.Name] = value
		default:
			w.flag = flag
		}
	case len(word) > 1 && word[0] == '-' && !w.bare:
		w.short(word[1:])
	default:
		if child := childOf(w.node, word); child != nil {
			w.node = child
			return
		}
		w.positions++
	}
}

// short takes flags of one letter.
func (w *walk) short(letters string) {
	for i, letter := range letters {
		at := slices.IndexFunc(w.all(), func(f *kong.Flag) bool { return f.Short == letter })
		if at < 0 || w.all()[at].IsBool() {
			continue
		}
		flag := w.all()[at]
		if rest := letters[i+len(string(letter)):]; rest != "" {
			w.given[flag.Name] = strings.TrimPrefix(rest, "=")
			return
		}
		w.flag = flag
	}
}

// all returns the flags that are possible here.
func (w *walk) all() []*kong.Flag { return slices.Concat(w.node.AllFlags(true)...) }

// find returns the flag of a name; nil for none.
func (w *walk) find(name string) *kong.Flag {
	for _, f := range w.all() {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// flags are the flags that are not given yet.
func (w *walk) flags() []Candidate {
	var found []Candidate
	for _, f := range w.all() {
		repeats := f.Target.Kind() == reflect.Slice || f.Target.Kind() == reflect.Map
		if _, given := w.given[f.Name]; !given || repeats {
			found = append(found, Candidate{"--" + f.Name, brief(f.Help)})
		}
	}
	return found
}

// valuesOf are the values of a flag or an argument.
func (w *walk) valuesOf(v *kong.Value, holder, word string, values Values) ([]Candidate, bool) {
	if found := words(v.Enum); len(found) > 0 {
		return found, false
	}
	return values(Place{Name: v.Name, Holder: holder, Given: w.given, Word: word})
}

// argument are the values of the argument that comes next.
func (w *walk) argument(word string, values Values) ([]Candidate, bool) {
	arguments := w.node.Positional
	if len(arguments) == 0 {
		return nil, false
	}
	at := min(w.positions, len(arguments)-1)
	a := arguments[at]
	if w.positions > at && a.Target.Kind() != reflect.Slice {
		return nil, false
	}
	return w.valuesOf(a, a.Name, word, values)
}

// words are those that a flag must be one of.
func words(enum string) []Candidate {
	var found []Candidate
	for word := range strings.SplitSeq(enum, ",") {
		if word = strings.TrimSpace(word); word != "" {
			found = append(found, Candidate{Word: word})
		}
	}
	return found
}

// commands are the commands below a node.
func commands(n *kong.Node) []Candidate {
	var found []Candidate
	for _, child := range n.Children {
		if !child.Hidden {
			found = append(found, Candidate{child.Name, brief(child.Help)})
		}
	}
	return found
}

// childOf returns the command of a name or alias; nil for none.
func childOf(n *kong.Node, name string) *kong.Node {
	for _, child := range n.Children {
		if child.Name == name || slices.Contains(child.Aliases, name) {
			return child
		}
	}
	return nil
}

// brief is the first sentence of a help.
func brief(help string) string {
	first, _, _ := strings.Cut(help, ". ")
	return strings.TrimSuffix(strings.Join(strings.Fields(first), " "), ".")
}

//go:embed scripts
var scripts embed.FS

// Script returns what makes a shell ask this program.
func Script(shell string) (string, error) {
	data, err := scripts.ReadFile("scripts/carillon." + shell)
	return string(data), err
}
