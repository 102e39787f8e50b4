package schema

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// writer writes the schemas of shapes.
type writer struct {
	defs []document.Member // schemas that others refer to
}

func object(members ...document.Member) document.Value { return document.ObjectValue(members...) }

func is(name string, v document.Value) document.Member { return document.Member{Name: name, Value: v} }

func text(s string) document.Value { return document.StringValue(s) }

func texts(all ...string) document.Value {
	values := make([]document.Value, len(all))
	for i, s := range all {
		values[i] = text(s)
	}
	return document.ArrayValue(values...)
}

func reference(to string) document.Value { return object(is("$ref", text(to))) }

// define adds a schema to $defs.
func (w *writer) define(name string, schema document.Value) {
	w.defs = append(w.defs, is(name, schema))
}

// ref refers to a schema of that name.
func (w *writer) ref(name string) document.Value { return reference("#/$defs/" + name) }

// share adds a schema to $defs and returns a reference to it. Its name is an end of its path that is free or already
// names an equal schema. share panics if all are taken, which is a bug, because paths differ.
func (w *writer) share(path string, schema document.Value) document.Value {
	path = strings.ReplaceAll(path, "*", "each")
	for at := len(path); at >= 0; {
		at = strings.LastIndexByte(path[:at], '.')
		name := path[at+1:]
		if name == envelope || name == "each" {
			continue // ambiguous
		}
		i := slices.IndexFunc(w.defs, func(m document.Member) bool { return m.Name == name })
		if i < 0 {
			w.define(name, schema)
		}
		if i < 0 || w.defs[i].Value.Equal(schema) {
			return w.ref(name)
		}
	}
	panic("schema: duplicate definition of " + path)
}

// object returns the schema of an object. kind holds its types: "object", and "null" if it may be null.
func (w *writer) object(path string, m *document.Members, kind ...string) document.Value {
	members := []document.Member{is("type", types(kind))}
	if d, _ := Describe(path); d.Text != "" && !strings.Contains(path, ".") {
		members = append(members, is("description", text(d.Text)))
	}
	if len(m.Kinds) > 0 {
		return object(append(members, w.kinds(path, m)...)...)
	}
	var known, either []document.Member
	var required []string
	for _, s := range m.Known {
		known = append(known, is(s.Name, w.member(path+"."+s.Name, s)))
		if s.Required {
			required = append(required, s.Name)
		}
	}
	for _, name := range m.Either {
		either = append(either, is("", object(is("required", texts(name)))))
	}
	if len(known) > 0 {
		members = append(members, is("properties", object(known...)))
	}
	if len(required) > 0 {
		members = append(members, is("required", texts(required...)))
	}
	if len(either) > 0 {
		members = append(members, is("anyOf", values(either)))
	}
	switch {
	case m.Free != nil:
		members = append(members, is("additionalProperties", w.member(path+"."+m.Free.Name, m.Free)))
	case !m.Open:
		members = append(members, is("additionalProperties", document.BoolValue(false)))
	}
	return object(members...)
}

// values returns an array of the values of members.
func values(members []document.Member) document.Value {
	all := make([]document.Value, len(members))
	for i, m := range members {
		all[i] = m.Value
	}
	return document.ArrayValue(all...)
}

// kinds returns the keywords of an object whose field type selects its kind.
func (w *writer) kinds(path string, m *document.Members) []document.Member {
	kind := m.Member(typeMember)
	var cases []document.Member
	for _, k := range m.Kinds {
		members := *k.Members
		members.Known = slices.DeleteFunc(slices.Clone(members.Known), func(s *document.Shape) bool { return s.Name == typeMember })
		schema := w.object(path, &members, "object")
		if !members.Open {
			schema = schema.With(document.BoolValue(true), "properties."+typeMember)
		}
		cases = append(cases, is("", object(
			is("if", object(
				is("type", text("object")), // null would match every kind
				is("properties", object(is(typeMember, object(is("pattern", text(anyCase(k.Words...))))))),
				is("required", texts(typeMember)),
			)),
			is("then", w.share(path+"."+k.Words[0], schema)),
		)))
	}
	members := []document.Member{is("properties", object(is(typeMember, w.member(path+"."+typeMember, kind))))}
	if kind.Required {
		members = append(members, is("required", texts(typeMember)))
	}
	return append(members, is("allOf", values(cases)))
}

// typeMember is the field that selects an object's kind. errorActionMember holds an action.
const (
	typeMember        = "type"
	errorActionMember = "errorAction"
)

// member returns the schema of a field. A null field counts as absent.
func (w *writer) member(path string, s *document.Shape) document.Value {
	_, secret := s.Form(document.FormSecret)
	var schemas []document.Member
	for _, f := range s.Forms {
		if secret && (f.Kind == document.FormObject || f.Kind == document.FormText) {
			continue // part of the secret's schema
		}
		schemas = append(schemas, is("", w.form(path, s, f)))
	}
	members := []document.Member{is("anyOf", values(schemas))}
	if len(schemas) == 1 {
		members = schemas[0].Value.Members()
	}
	return object(append(described(path, s), members...)...)
}

// described returns the description and examples of a field's schema.
func described(path string, s *document.Shape) []document.Member {
	d, _ := Describe(path)
	sentences := []string{d.Text}
	if bounds := Bounds(s); bounds != "" {
		sentences = append(sentences, "From "+bounds+".")
	}
	if d.Default != "" {
		sentences = append(sentences, "Default: "+d.Default+".")
	}
	members := []document.Member{is("description", text(strings.Join(sentences, " ")))}
	if example, err := document.Parse([]byte(d.Example)); err == nil {
		members = append(members, is("examples", document.ArrayValue(example)))
	}
	return members
}

// form returns the schema of one form of a field.
func (w *writer) form(path string, s *document.Shape, f document.Form) document.Value {
	var null []string
	if !s.Required {
		null = []string{"null"}
	}
	switch {
	case f.Kind == document.FormObject && f.Of == document.FormNothing:
		return w.members(path, s, null)
	case f.Kind == document.FormSecret:
		return w.secret(s)
	case f.Kind == document.FormObject:
		free := w.scalar(document.Form{Kind: f.Of}, []string{"null"})
		return object(is("type", types(append(null, "object"))), is("additionalProperties", free))
	case f.Kind == document.FormList && f.Of == document.FormObject:
		return object(is("type", types(append(null, "array"))), is("items", w.members(path, s, nil)))
	case f.Kind == document.FormList:
		element := document.Form{Kind: f.Of, Words: f.Words, Least: f.Least, Most: f.Most}
		return object(is("type", types(append(null, "array"))), is("items", w.scalar(element, nil)))
	}
	return w.scalar(f, null)
}

// secret returns a reference to the schema of secrets: a string, or an object that names a shared secret.
func (w *writer) secret(s *document.Shape) document.Value {
	schema := w.object("secret", s.Members, "string", "object", "null").With(document.BoolValue(true), "writeOnly")
	ref := w.share("secret", schema)
	if s.Required {
		ref = ref.With(texts("string", "object"), "type")
	}
	return ref
}

// members returns a reference to the schema of an object.
func (w *writer) members(path string, s *document.Shape, null []string) document.Value {
	outer := path[:strings.LastIndexByte(path, '.')]
	var ref document.Value
	switch {
	case s.Members.Recurs:
		ref = w.ref("action")
	case s.Name == errorActionMember:
		ref = w.share("job.action", w.object("job.action", s.Members, "object", "null"))
	case s.Name == envelope:
		ref = w.share(path, w.object(outer, s.Members, "object", "null"))
	default:
		ref = w.share(path, w.object(path, s.Members, "object", "null"))
	}
	if null == nil {
		ref = ref.With(text("object"), "type")
	}
	return ref
}

// types returns the value of the keyword type: a string or an array.
func types(names []string) document.Value {
	if len(names) == 1 {
		return text(names[0])
	}
	names = slices.Clone(names)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(order(a), order(b)) })
	return texts(names...)
}

// order sorts null last.
func order(kind string) int {
	if kind == "null" {
		return 1
	}
	return 0
}

// Patterns of the prefixes of durations and times, or a variable.
const (
	variable        = `\$\{CARILLON_`
	durationPattern = `^[P0-9]|` + variable
	timePattern     = `^[0-9]{4}|` + variable
)

// scalar returns the schema of a value that is neither an object nor a list.
func (w *writer) scalar(f document.Form, null []string) document.Value {
	of := func(kinds ...string) document.Member { return is("type", types(append(kinds, null...))) }
	switch f.Kind { //nolint:exhaustive // the others are not scalar
	case document.FormWord:
		return object(of("string"), is("anyOf", document.ArrayValue(
			object(is("enum", texts(f.Words...))), object(is("pattern", text(anyCase(f.Words...)))),
		)))
	case document.FormBoolean:
		return object(of("boolean"))
	case document.FormInteger:
		return object(append([]document.Member{of("integer")}, bounds(f, 1)...)...)
	case document.FormNumber:
		return object(of("number"))
	case document.FormLength:
		members := []document.Member{of("string", "number"), is("pattern", text(durationPattern))}
		return object(append(members, bounds(f, float64(time.Second))...)...)
	case document.FormTime:
		return object(of("string", "integer"), is("pattern", text(timePattern)))
	case document.FormText:
		return object(of("string"))
	}
	return object(is("readOnly", document.BoolValue(true)))
}

// bounds returns the minimum and maximum of a form in a unit.
func bounds(f document.Form, unit float64) []document.Member {
	if !f.Bounded() {
		return nil
	}
	number := func(n int64) document.Value {
		return document.NumberValue(strconv.FormatFloat(float64(n)/unit, 'f', -1, 64))
	}
	return []document.Member{is("minimum", number(f.Least)), is("maximum", number(f.Most))}
}

// anyCase returns a case-insensitive pattern of words, or a variable.
func anyCase(words ...string) string {
	var b strings.Builder
	for i, word := range words {
		if i > 0 {
			b.WriteByte('|')
		}
		for _, r := range word {
			switch lower, upper := unicode.ToLower(r), unicode.ToUpper(r); {
			case lower != upper:
				b.WriteString("[" + string(upper) + string(lower) + "]")
			case r == '.':
				b.WriteString(`\.`)
			default:
				b.WriteRune(r)
			}
		}
	}
	return "^(?:" + b.String() + ")$|" + variable
}
