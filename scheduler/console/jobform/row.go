package jobform

import (
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// tokens are the numbers of the rows that a form has: of the inputs whose names begin with a text. One that is removed is left
// out, and one that is added is the last. Without a form it is those of n rows.
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

// maxRows bounds the rows of a form; no job may have as many.
const maxRows = 1000

// The inputs of a row, after its name.
const (
	rowKey   = "~name"
	rowValue = "~value"
)

// rows makes the fields of an object whose members have any names.
func (w *walker) rows(s *document.Shape, at spot, base got) (*Field, got) {
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
			w.wrongRow(f, row, words.Say("jobform.row.nameless"))
		case slices.Contains(names, row.Key):
			w.wrongRow(f, row, words.Say("jobform.row.twice", row.Key))
		case value.ok:
			now = append(now, document.Member{Name: row.Key, Value: value.v})
		}
		names = append(names, row.Key)
	}
	now = w.dropped(at, names, now)
	switch {
	case len(now) > 0:
		return f, got{document.ObjectValue(now...), true}
	case base.ok && len(members) == 0:
		return f, base
	}
	return f, got{}
}

// shown are the members of an object with those that the document does not show, as they are secrets.
func (w *walker) shown(members []document.Member, at spot) []document.Member {
	all := slices.Clone(members)
	for _, path := range w.in.Stored {
		if name, ok := nameIn(path, at.was); ok && indexOf(members, name) < 0 {
			all = append(all, document.Member{Name: name})
		}
	}
	return all
}

// row makes a row for a member.
func (w *walker) row(at spot, i int, name string) *Row {
	row := &Row{Name: at.name + "#" + strconv.Itoa(i), Key: name}
	row.ID = "f-" + row.Name
	key, ok := w.typed(row.Name + rowKey)
	if ok && Plain(key) != line(name) {
		row.Key = Plain(key)
	}
	row.Focus = w.do == "add:"+at.name && !ok
	row.Path = document.MemberPath(at.path, row.Key)
	return row
}

// line is a text as it comes back from an input of one line.
func line(text string) string { return strings.ReplaceAll(Plain(text), "\n", "") }

// nameIn returns the name of the member that a path leads to, of the object at another path.
func nameIn(path, object string) (string, bool) {
	all, around := steps(path), steps(object)
	if len(all) != len(around)+1 || !slices.Equal(all[:len(around)], around) {
		return "", false
	}
	return all[len(all)-1], true
}

// dropped removes stored secrets whose rows are gone.
func (w *walker) dropped(at spot, names []string, now []document.Member) []document.Member {
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

// rowValue reads the value of a row, and says what it may be.
func (w *walker) rowValue(f *Field, row *Row, s *document.Shape, at spot, was document.Member, there bool) got {
	base := got{was.Value, there}
	ref, isRef := base.v.Member(refMember)
	stored := slices.Contains(w.in.Stored, document.MemberPath(at.was, was.Name))
	free := freeOf(s)
	row.Is = kindOf(base.v, free)
	switch {
	case isRef:
		row.Is = howRef
	case stored:
		row.Is = howKeep
	}
	if free == nil {
		return w.rowText(row, base, howText, row.Is)
	}
	row.Shared, row.Ref = w.in.Secrets, ref.Text()
	how, chosen := w.typed(row.Name + "~how")
	if chosen {
		row.Is = how
		row.Ref, _ = w.typed(row.Name + "~ref")
	}
	now, kind := got{}, kindOf(base.v, free)
	switch text, _ := w.typed(row.Name + rowValue); {
	case row.Is == howKeep && text == "" && row.Key == was.Name:
		w.kept = append(w.kept, kept{row.Path, document.MemberPath(at.was, was.Name), func(m string) { w.wrongRow(f, row, m) }})
	case row.Is == howKeep && text == "":
		w.wrongRow(f, row, words.Say("jobform.secret.moved"))
		row.Is = howText
	case row.Is == howKeep:
		row.Is = howText
		now = w.rowText(row, got{}, howText, howText)
	case row.Is == howRef:
		now = got{reference(base, row.Ref), true}
	default:
		now = w.rowText(row, base, row.Is, kind)
	}
	if row.Hidden = row.Is == howText && document.IsCredential(row.Key); row.Hidden {
		if now.ok {
			w.reading.Typed = append(w.reading.Typed, row.Path)
		}
		row.Text, row.Again, row.Lines = "", now.ok, false
	}
	row.How = asChoices("jobform.row.", rowHows(free, stored), row.Is)
	return now
}

// kindOf is what the value of a row is. What no row can have is shown as a text, and stays as it is when nobody touches it.
func kindOf(v document.Value, free *document.Shape) string {
	may := func(kind document.FormKind) bool {
		if free == nil {
			return false
		}
		_, ok := free.Form(kind)
		return ok
	}
	switch {
	case v.Kind() == document.KindNumber && may(document.FormNumber):
		return howNumber
	case v.Kind() == document.KindBool && may(document.FormBoolean):
		return howBoolean
	}
	return howText
}

// freeOf is what the members of an object may be whose names are free; nil for nothing but texts.
func freeOf(s *document.Shape) *document.Shape {
	if s.Members == nil {
		return nil
	}
	return s.Members.Free
}

// rowHows are what a value may be.
func rowHows(free *document.Shape, stored bool) []string {
	all := []string{howText}
	if _, ok := free.Form(document.FormNumber); ok {
		all = append(all, howNumber)
	}
	if _, ok := free.Form(document.FormBoolean); ok {
		all = append(all, howBoolean)
	}
	all = append(all, howRef)
	if stored {
		all = append(all, howKeep)
	}
	return all
}

// rowText reads the text of a row.
func (w *walker) rowText(row *Row, base got, how, was string) got {
	row.Text = written(base)
	before := row.Text
	text, ok := w.typed(row.Name + rowValue)
	if ok {
		row.Text = text
	}
	row.Lines = strings.ContainsAny(row.Text, "\r\n")
	same := !ok || Plain(text) == Plain(before)
	switch trimmed := strings.TrimSpace(text); {
	case same && (how == was || !ok):
		return base
	case how == howNumber && numeric.MatchString(trimmed):
		return got{document.NumberValue(trimmed), true}
	case how == howBoolean && (trimmed == "true" || trimmed == "false"):
		return got{document.BoolValue(trimmed == "true"), true}
	}
	if row.Key == "" && text == "" {
		return got{}
	}
	return got{document.StringValue(breaks(base.v.Text(), text)), true}
}
