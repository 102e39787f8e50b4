package document_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// readPost is a reader that does all that readers do.
func readPost(o *document.Object) {
	o.Ignore("etag")
	o.Refuse("parcel", "belongs elsewhere")
	if given := o.RequireOne("letter", "card"); len(given) > 1 {
		o.Problem(given[1], "is one too many")
	}
	_, _ = o.String("letter")
	if o.Has("card") || o.Describes() {
		_, _ = o.Bool("card")
	}
	if way, _ := o.Enum("way", "air", "sea"); way == "sea" || o.Describes() {
		_, _ = o.String("port")
	}
	if wrapped, _ := o.Bool("wrapped"); wrapped || o.Describes() {
		_, _ = o.ExactDuration("hold", time.Second, time.Minute)
	}
	_, _ = o.Ints("stamps", 1, 99)
	if o.Describes() {
		_, _ = o.Strings("to")
		_, _ = o.String("to")
	}
	switch v, ok := o.Value("to"); {
	case !ok:
	case v.Kind() == document.KindString:
		_, _ = o.String("to")
	default:
		_, _ = o.Strings("to")
	}
	if ho, ok := o.Object("marks"); ok {
		marks, _ := o.Sample("marks", document.ObjectValue(document.Member{Name: "*"}))
		for _, m := range marks.Members() {
			_, _ = ho.Number(m.Name)
		}
	}
	if so, ok := o.Object("seal"); ok {
		readSeal(so)
	}
	o.Done()
}

// readSeal reads an object whose type tells its kind.
func readSeal(o *document.Object) {
	kinds := []string{"wax", "tape", "foil"}
	if o.EachKind(readSeal, kinds...) {
		return
	}
	switch kind, ok := o.Enum("type", kinds...); {
	case !ok:
		o.Require("type")
		return
	case kind == "wax":
		_, _ = o.Secret("ring")
		o.Require("ring")
	}
	_, _ = o.Objects("errorAction")
	o.Done()
}

// TestShapeOf has a reader describe what it takes.
func TestShapeOf(t *testing.T) {
	const want = `
etag any value
letter string
card boolean
way word air|sea
port string
wrapped boolean
hold duration 1000000000-60000000000
stamps list of integer 1-99
to list of string, string
marks object
  * number
seal object
  type wax
    type! word wax|tape|foil
    ring! secret, object
      secretRef! string
    errorAction list of object
      (like the one around it)
  type tape foil
    type! word wax|tape|foil
    errorAction list of object
      (like the one around it)
one of letter card
`
	s := document.ShapeOf(readPost)
	if got := "\n" + outline(s.Members, ""); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if s.Members.Member("ring") != nil || s.Members.Member("seal").Members.Member("ring") == nil {
		t.Error("ring is found elsewhere than in seal")
	}
}

// outline tells what an object may have, a line for each member.
func outline(m *document.Members, indent string) string {
	var b strings.Builder
	if m.Recurs {
		return indent + "(like the one around it)\n"
	}
	all := m.Known
	if m.Free != nil {
		all = append(slices.Clip(all), m.Free)
	}
	for _, s := range all {
		b.WriteString(indent + s.Name)
		if s.Required {
			b.WriteByte('!')
		}
		for i, f := range s.Forms {
			b.WriteString([]string{" ", ", "}[min(i, 1)] + told(f))
		}
		b.WriteByte('\n')
		if s.Members != nil {
			b.WriteString(outline(s.Members, indent+"  "))
		}
	}
	for _, kind := range m.Kinds {
		b.WriteString(indent + "type " + strings.Join(kind.Words, " ") + "\n" + outline(kind.Members, indent+"  "))
	}
	if m.Open {
		b.WriteString(indent + "anything else\n")
	}
	if m.Either != nil {
		b.WriteString(indent + "one of " + strings.Join(m.Either, " ") + "\n")
	}
	return b.String()
}

// told tells a form.
func told(f document.Form) string {
	text := f.Kind.String()
	if f.Of != document.FormNothing {
		text += " of " + f.Of.String()
	}
	if f.Words != nil {
		text += " " + strings.Join(f.Words, "|")
	}
	if f.Bounded() {
		text += fmt.Sprintf(" %d-%d", f.Least, f.Most)
	}
	return text
}
