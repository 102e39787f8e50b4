package jobform

import (
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// tokens returns the numbers of the rows in the submitted form, from the inputs with a common prefix, without a removed
// row and with an added one at the end. Without a submitted form, it returns the numbers of n rows.
func (w *walker) tokens(name, open string, n int) []int {
	var all []int
	if w.values == nil {
		for i := range n {
			all = append(all, i)
		}
		return all
	}
	most := n - 1
	for input := range w.values {
		rest, ok := strings.CutPrefix(input, name+open)
		if !ok {
			continue
		}
		digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
		if i, err := strconv.Atoi(digits); err == nil && i < maxRows && !slices.Contains(all, i) {
			all, most = append(all, i), max(most, i)
		}
	}
	slices.Sort(all)
	if removed, ok := strings.CutPrefix(w.do, "remove:"+name+open); ok {
		i, err := strconv.Atoi(strings.TrimSuffix(removed, "]"))
		at := slices.Index(all, i)
		if err == nil && at >= 0 {
			all, w.reading.Reshaped = slices.Delete(all, at, at+1), true
		}
	}
	if w.do == "add:"+name && most+1 < maxRows {
		all, w.reading.Reshaped = append(all, most+1), true
	}
	return all
}

// maxRows limits the rows of a form; jobs have fewer.
const maxRows = 1000

// The suffixes of a row's inputs.
const (
	rowKey   = "~name"
	rowValue = "~value"
)

// rows creates the fields of an object with free names.
func (w *walker) rows(s *document.Shape, at location, base optionalValue) (*Field, optionalValue) {
	f := newField(KindMap, s, at)
	members := base.v.Members()
	shown := w.shown(members, at)
	var now []document.Member
	var names []string
	for _, i := range w.tokens(at.name, "#", len(shown)) {
		var was document.Member
		if i < len(shown) {
			was = shown[i]
		}
		row := w.row(at, i, was.Name)
		row.Focus = row.Focus && i >= len(shown)
		f.Rows = append(f.Rows, row)
		there := i < len(members)
		value := w.rowValue(f, row, s, at, was, there)
		if row.Key == "" && !there && row.Text == "" && !row.Again {
			continue
		}
		switch {
		case row.Key == "" && !there:
			w.wrongRow(f, row, words.Text("jobform.row.nameless"))
		case slices.Contains(names, row.Key):
			w.wrongRow(f, row, words.Text("jobform.row.twice", row.Key))
		case value.ok:
			now = append(now, document.Member{Name: row.Key, Value: value.v})
		}
		names = append(names, row.Key)
	}
	now = w.dropped(at, names, now)
	switch {
	case len(now) > 0:
		return f, optionalValue{document.ObjectValue(now...), true}
	case base.ok && len(members) == 0:
		return f, base
	}
	return f, optionalValue{}
}

// shown returns the fields of an object, including secrets that the document does not contain.
func (w *walker) shown(members []document.Member, at location) []document.Member {
	all := slices.Clone(members)
	for _, path := range w.in.Stored {
		if name, ok := nameIn(path, at.was); ok && indexOf(members, name) < 0 {
			all = append(all, document.Member{Name: name})
		}
	}
	return all
}

// row creates the row of a member.
func (w *walker) row(at location, i int, name string) *Row {
	row := &Row{Secret: Secret{Name: at.name + "#" + strconv.Itoa(i), Shared: w.in.Secrets}, Key: name}
	row.ID = "f-" + row.Name
	key, ok := w.typed(row.Name + rowKey)
	if ok && Plain(key) != line(name) {
		row.Key = Plain(key)
	}
	row.Focus = w.do == "add:"+at.name && !ok
	row.Path = document.MemberPath(at.path, row.Key)
	return row
}

// line returns the submitted text of an input with one line.
func line(text string) string { return strings.ReplaceAll(Plain(text), "\n", "") }

// nameIn returns the name of the field on the way to a path.
func nameIn(path, object string) (string, bool) {
	all, around := steps(path), steps(object)
	if len(all) != len(around)+1 || !slices.Equal(all[:len(around)], around) {
		return "", false
	}
	return all[len(all)-1], true
}

// dropped removes stored secrets whose rows were removed.
func (w *walker) dropped(at location, names []string, now []document.Member) []document.Member {
	for _, path := range w.in.Stored {
		name, ok := nameIn(path, at.was)
		if ok && !slices.Contains(names, name) && at.path == at.was {
			now = append(now, document.Member{Name: name})
		}
	}
	return now
}

// wrongRow adds a problem of a row.
func (w *walker) wrongRow(f *Field, row *Row, message string) {
	row.Problems = append(row.Problems, message)
	w.reading.Problems = append(w.reading.Problems, Wrong{Path: row.Path, Message: message, Field: row.ID, Label: f.Label})
}

// rowValue parses the value of a row and sets its possible kinds.
func (w *walker) rowValue(f *Field, row *Row, s *document.Shape, at location, was document.Member, there bool) optionalValue {
	base := optionalValue{was.Value, there}
	ref, isRef := base.v.Member(refMember)
	stored := slices.Contains(w.in.Stored, document.MemberPath(at.was, was.Name))
	var kinds []string
	if s.Members != nil && s.Members.Free != nil {
		kinds = kindsOf(s.Members.Free)
	}
	kind := kindOf(base.v, kinds)
	row.Is = kind
	switch {
	case isRef:
		row.Is = howRef
	case stored:
		row.Is = howKeep
	}
	if kinds == nil {
		return w.rowText(row, base, howText, row.Is)
	}
	row.Ref = ref.Text()
	how, chosen := w.typed(row.Name + "~how")
	if chosen {
		row.Is = how
		row.Ref, _ = w.typed(row.Name + "~ref")
	}
	now := optionalValue{}
	switch text, _ := w.typed(row.Name + rowValue); {
	case row.Is == howKeep && text == "" && row.Key == was.Name:
		w.keeps(row.Path, document.MemberPath(at.was, was.Name), func(message string) { w.wrongRow(f, row, message) })
	case row.Is == howKeep && text == "":
		w.wrongRow(f, row, words.Text("jobform.secret.moved"))
		row.Is = howText
	case row.Is == howKeep:
		row.Is = howText
		now = w.rowText(row, optionalValue{}, howText, howText)
	case row.Is == howRef:
		now = optionalValue{reference(base, row.Ref), true}
	default:
		now = w.rowText(row, base, row.Is, kind)
	}
	if row.Hidden = row.Is == howText && document.IsCredential(row.Key); row.Hidden {
		if now.ok {
			w.reading.Typed = append(w.reading.Typed, row.Path)
		}
		row.Text, row.Again, row.Lines = "", now.ok, false
	}
	if kinds = append(kinds, howRef); stored {
		kinds = append(kinds, howKeep)
	}
	row.How = asChoices("jobform.row.", kinds, row.Is)
	return now
}

// rowKinds are the kinds of a row's value that a shape may have in addition to a text.
var rowKinds = []struct {
	how   string
	form  document.FormKind
	value document.Kind
}{{howNumber, document.FormNumber, document.KindNumber}, {howBoolean, document.FormBoolean, document.KindBool}}

// kindsOf returns the possible kinds of a value.
func kindsOf(free *document.Shape) []string {
	all := []string{howText}
	for _, kind := range rowKinds {
		if _, ok := free.Form(kind.form); ok {
			all = append(all, kind.how)
		}
	}
	return all
}

// kindOf returns the kind of a row's value. An unsupported value is shown as a text and stays unchanged if untouched.
func kindOf(v document.Value, kinds []string) string {
	for _, kind := range rowKinds {
		if kind.value == v.Kind() && slices.Contains(kinds, kind.how) {
			return kind.how
		}
	}
	return howText
}

// rowText parses the text of a row.
func (w *walker) rowText(row *Row, base optionalValue, how, was string) optionalValue {
	row.Text = written(base.v)
	before := row.Text
	text, ok := w.typed(row.Name + rowValue)
	if ok {
		row.Text = text
	}
	row.Lines = strings.ContainsAny(row.Text, "\r\n")
	same := !ok || Plain(text) == Plain(before)
	if same && (how == was || !ok) {
		return base
	}
	for _, kind := range rowKinds {
		if v, ok := scalar(kind.form, strings.TrimSpace(text)); ok && kind.how == how {
			return optionalValue{v, true}
		}
	}
	if row.Key == "" && text == "" {
		return optionalValue{}
	}
	return optionalValue{document.StringValue(breaks(base.v.Text(), text)), true}
}
