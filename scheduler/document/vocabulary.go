package document

import (
	"slices"
	"strconv"
	"strings"
)

// Vocabulary is the members that documents of a kind may have, and the objects that may have them. It is what readers ask
// for, so that it cannot differ from them.
type Vocabulary struct {
	names []string            // in the order in which they were asked for
	homes map[string][]string // the paths of the objects that may have a member, by its name in lower case; nil: only asked is kept
	asked []asked             // in what forms, in the order in which they were asked for
}

// Explore returns what a reader asks for: it reads document, in which every object that is asked for and is not there
// stands as an empty one. Objects that may hold one of their own kind are followed once.
func (v *Vocabulary) Explore(document Value, read func(o *Object)) {
	if v.homes == nil {
		v.homes = map[string][]string{}
	}
	r := NewReader()
	r.explored = v
	read(r.Object(document.Clone(), ""))
}

// Objects returns the names of the objects that the object at a path may have.
func (v *Vocabulary) Objects(path string) []string {
	var names []string
	for _, name := range v.names {
		if v.isObject(member(path, name)) {
			names = append(names, name)
		}
	}
	return names
}

// isObject reports whether a path is one of an object with members.
func (v *Vocabulary) isObject(path string) bool {
	for _, homes := range v.homes {
		if slices.Contains(homes, path) {
			return true
		}
	}
	return false
}

// learn notes that the object at a path may have a member.
func (v *Vocabulary) learn(path, name string) {
	key := strings.ToLower(name)
	if v.homes[key] == nil {
		v.names = append(v.names, name)
	}
	if path = strings.ReplaceAll(path, "[0]", ""); !slices.Contains(v.homes[key], path) {
		v.homes[key] = append(v.homes[key], path)
	}
}

// ask notes that a reader wants an object of that name, or whatever it is, from the object.
func (o *Object) ask(name string) {
	if r := o.reader; r.words != nil {
		r.asked = append(r.asked, o.spot(name))
	}
}

// invents reports whether an object that is not in the document is to be read as an empty one, and not for ever.
func (o *Object) invents(name string) bool {
	return o.reader.explored != nil && !slices.Contains(strings.FieldsFunc(o.path(), func(r rune) bool {
		return strings.ContainsRune(".[]", r)
	}), name)
}

// stray is a member that nobody asked for where it stands.
type stray struct {
	problem int // which of the reader's problems tells of it
	object  string
	name    string
	known   []string // what the object may have
}

// judge says what is wrong with a stray member, once the whole document was read.
func (r *Reader) judge(s *stray) string {
	near := Nearest(s.name, s.known)
	if strings.EqualFold(near, s.name) {
		return "repeats " + strconv.Quote(near)
	}
	if homes := r.homesOf(s, s.name); len(homes) > 0 {
		return "belongs " + phrase(homes)
	}
	if near != "" {
		return "unknown field; did you mean " + strconv.Quote(near) + "?"
	}
	if r.words != nil {
		if near = Nearest(s.name, r.words().names); near != "" {
			if homes := r.homesOf(s, near); len(homes) > 0 {
				return "unknown field; did you mean " + strconv.Quote(near) + " " + phrase(homes) + "?"
			}
		}
	}
	return "unknown field"
}

// homesOf returns the objects of the document that may have a member, other than the one it stands in.
func (r *Reader) homesOf(s *stray, name string) []string {
	if r.words == nil {
		return nil
	}
	var homes []string
	for _, home := range r.words().homes[strings.ToLower(name)] {
		if strings.Contains(home, errorAction) { // it is like the action
			continue
		}
		home = r.below(s.object, home)
		if home != s.object && r.mayHave(home) && !slices.Contains(homes, home) {
			homes = append(homes, home)
		}
	}
	return homes
}

// errorAction is the member of an action that is an action itself.
const errorAction = "errorAction"

// below moves the home of a member into the envelope and, if what holds the member is an errorAction, from the action to
// that.
func (r *Reader) below(object, home string) string {
	if at := strings.LastIndex(object, errorAction); at >= 0 && (home == "action" || strings.HasPrefix(home, "action.")) {
		end := at + len(errorAction)
		if object[end:] != "" && object[end] == '[' {
			end += strings.IndexByte(object[end:], ']') + 1
		}
		return object[:end] + strings.TrimPrefix(home, "action")
	}
	return join(r.base, home)
}

// mayHave reports whether a document that was read so far may have an object at a path: whoever read the object around it
// did ask for it, if there is one.
func (r *Reader) mayHave(path string) bool {
	for path != r.base {
		around := path[:max(strings.LastIndexAny(path, ".["), 0)]
		if stands(r.opened, around) && !stands(r.asked, path) {
			return false
		}
		if around == path || path == "" {
			return true
		}
		path = around
	}
	return true
}

// stands reports whether one of the spots has a path.
func stands(spots []spot, path string) bool {
	return slices.ContainsFunc(spots, func(s spot) bool { return s.path() == path })
}

// phrase says where members belong: "in action.request", "at the top level of the job".
func phrase(homes []string) string {
	words := make([]string, 0, 3)
	for _, home := range homes[:min(len(homes), 3)] {
		switch home = strings.TrimPrefix(strings.TrimPrefix(home, "properties"), "."); home {
		case "":
			words = append(words, "at the top level of the job")
		default:
			words = append(words, "in "+home)
		}
	}
	return strings.Join(words, " or ")
}
