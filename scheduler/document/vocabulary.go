package document

import (
	"slices"
	"strconv"
	"strings"
)

// ask notes that a reader wants an object of that name, or whatever it is, from the object.
func (o *Object) ask(name string) {
	if r := o.reader; r.words != nil {
		r.asked = append(r.asked, o.spot(name))
	}
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
		var names []string
		r.words().eachMember("", false, func(_, name string) { names = append(names, name) })
		if near = Nearest(s.name, names); near != "" {
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
	r.words().eachMember("", false, func(home, known string) {
		if !strings.EqualFold(known, name) {
			return
		}
		if home = r.below(s.object, home); home != s.object && !slices.Contains(homes, home) && r.mayHave(home) {
			homes = append(homes, home)
		}
	})
	return homes
}

// eachMember calls do for each field below an object at a path, with the path of the object that has it. It skips fields that
// depend on the type of an object inside an object with a type.
func (s *Shape) eachMember(path string, typed bool, do func(home, name string)) {
	if s.Members == nil {
		return
	}
	all := s.Members.Known
	for _, kind := range s.Members.Kinds {
		if !typed {
			all = append(slices.Clip(all), kind.Members.Known...)
		}
	}
	for _, inner := range all {
		do(path, inner.Name)
		inner.eachMember(member(path, inner.Name), typed || s.Members.Kinds != nil, do)
	}
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
