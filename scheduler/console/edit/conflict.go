package edit

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/console/jobform"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// conflict is a concurrent change of a job.
type conflict struct {
	ETag    string // of the other change
	Choices []choice
	Asked   bool // a choice is still missing
}

// choice is a field that differs: its original value, the value of the other change, and the typed value.
type choice struct {
	Path, Name           string // Name is the name of the radio buttons
	Before, Theirs, Mine string
	NoBefore, NoTheirs   bool // the field is absent
	NoMine               bool
	Both                 bool // both have changed it
	Picked               string
	Missing              bool // the choice is required
}

const (
	pickTheirs = "theirs"
	pickMine   = "mine"
	pickPrefix = "choice:"
)

// at is the value at a path in one of the three documents.
type at struct {
	v  document.Value
	ok bool
}

func (a at) equal(b at) bool { return a.ok == b.ok && a.v.Equal(b.v) }

// merging is a three-way merge by the user's choices.
type merging struct {
	picked  func(path string) string
	all     string   // the choice for all conflicts; "" for none
	secrets []string // paths of typed secrets in mine, which stay
	choices []choice
}

// merge returns the merged value of a path whose original value is base.
func (m *merging) merge(path string, base, theirs, mine at) at {
	switch {
	case theirs.equal(mine):
		return mine
	case slices.Contains(m.secrets, path) && m.all == pickTheirs:
		return theirs
	case slices.Contains(m.secrets, path):
		return mine
	case m.together(base, theirs, mine):
		return m.members(path, base, theirs, mine)
	}
	c := choice{
		Path: path, Name: pickPrefix + path,
		Before: readable(base.v), Theirs: readable(theirs.v), Mine: readable(m.hidden(path, mine.v)),
		NoBefore: !base.ok, NoTheirs: !theirs.ok, NoMine: !mine.ok, Picked: m.picked(path),
	}
	theirsChanged, mineChanged := !base.equal(theirs), !base.equal(mine)
	c.Both = theirsChanged && mineChanged
	if c.Picked == "" && !c.Both {
		c.Picked = pickMine
		if theirsChanged {
			c.Picked = pickTheirs
		}
	}
	m.choices = append(m.choices, c)
	if c.Picked == pickTheirs {
		return theirs
	}
	return mine
}

// hidden returns a value of mine without the typed secrets.
func (m *merging) hidden(path string, v document.Value) document.Value {
	var inner []string
	for _, s := range m.secrets {
		if rest, ok := strings.CutPrefix(s, path); ok {
			inner = append(inner, strings.TrimPrefix(rest, "."))
		}
	}
	return jobform.Masked(v, inner, "***")
}

// together reports whether three objects have the same kind, so that their fields can be merged individually.
func (m *merging) together(base, theirs, mine at) bool {
	if theirs.v.Kind() != document.KindObject || mine.v.Kind() != document.KindObject || base.ok && base.v.Kind() != document.KindObject {
		return false
	}
	t, _ := theirs.v.Member("type")
	own, _ := mine.v.Member("type")
	return strings.EqualFold(t.Text(), own.Text())
}

// members merges the fields of objects, in the order of mine.
func (m *merging) members(path string, base, theirs, mine at) at {
	var names []string
	known := map[string]bool{}
	for _, v := range []document.Value{mine.v, theirs.v, base.v} {
		for _, member := range v.Members() {
			if !known[member.Name] {
				known[member.Name] = true
				names = append(names, member.Name)
			}
		}
	}
	var all []document.Member
	for _, name := range names {
		now := m.merge(document.MemberPath(path, name), of(base.v, name), of(theirs.v, name), of(mine.v, name))
		if now.ok {
			all = append(all, document.Member{Name: name, Value: now.v})
		}
	}
	return at{document.ObjectValue(all...), true}
}

func of(v document.Value, name string) at {
	inner, ok := v.Member(name)
	return at{inner, ok}
}

// clash shows the choices between the other change and the typed values.
func (e *editing) clash() error {
	_, err := e.theirs("", func(string) string { return "" })
	if err != nil {
		return e.failed(err)
	}
	return e.show(http.StatusConflict)
}

// theirs merges the typed document with the current job. The page keeps the job as it was opened until all choices are
// made.
func (e *editing) theirs(all string, picked func(path string) string) (merged document.Value, err error) {
	now := e.room.editing(e.call)
	if err := now.load(); err != nil {
		return merged, err
	}
	m := &merging{picked: picked, all: all, secrets: e.room.form().SecretsIn(e.mine)}
	result := m.merge("", at{e.base, true}, at{now.base, true}, at{e.mine, true})
	e.Conflict = &conflict{ETag: now.ETag, Choices: m.choices}
	for i := range m.choices {
		c := &e.Conflict.Choices[i]
		c.Missing = c.Picked == ""
	}
	e.Conflict.Asked = slices.ContainsFunc(e.Conflict.Choices, func(c choice) bool { return c.Missing })
	return result.v, nil
}

// merge applies the choices, or all of theirs or mine. The result is based on the current job and is reviewed again.
func (e *editing) merge(all string) error {
	values := e.call.Request.PostForm
	if !e.legible() {
		return e.show(http.StatusBadRequest)
	}
	seen := values.Get("theirs")
	merged, err := e.theirs(all, func(path string) string {
		switch p := cmp.Or(all, values.Get(pickPrefix+path)); p {
		case pickTheirs, pickMine:
			return p
		}
		return ""
	})
	if err != nil {
		return e.failed(err)
	}
	if e.Conflict.ETag != seen { // the job has changed again
		e.Notes = append(e.Notes, e.call.Say("edit.conflict.again"))
		return e.show(http.StatusConflict)
	}
	if e.Conflict.Asked {
		return e.show(http.StatusBadRequest)
	}
	e.Conflict = nil
	if err := e.load(); err != nil {
		return e.failed(err)
	}
	if e.ETag != seen {
		return e.clash()
	}
	typed := e.room.form().SecretsIn(merged)
	e.begin(merged)
	e.typed = typed
	e.checkLists()
	return e.review()
}
