package variable

import (
	"strings"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Escape returns a document in which every text that [Expand] would take for a variable stands for itself. Its
// secrets stay as they are: they are hidden ones.
func Escape(v document.Value) document.Value {
	switch v.Kind() {
	case document.KindString:
		if v.IsSecret() {
			return v
		}
		return document.StringValue(escaped(v.Text()))
	case document.KindArray:
		items := make([]document.Value, len(v.Items()))
		for i, item := range v.Items() {
			items[i] = Escape(item)
		}
		return document.ArrayValue(items...)
	case document.KindObject:
		members := make([]document.Member, len(v.Members()))
		for i, m := range v.Members() {
			members[i] = document.Member{Name: m.Name, Value: Escape(m.Value)}
		}
		return document.ObjectValue(members...)
	default:
		return v
	}
}

// escaped puts a $ before every variable.
func escaped(s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, open)
		if !found {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(before)
		if name, _, closed := strings.Cut(after, "}"); closed && isName(name) {
			b.WriteByte('$')
		}
		b.WriteString(open)
		s = after
	}
}
