// Package command writes commands that people copy from pages of the console. Whatever a job has in it, a shell runs nothing
// of that, and the command puts the job as it is.
package command

import (
	"fmt"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Quoted returns a text as one word of a POSIX shell.
func Quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// HereDocument returns a command that reads a text. Nothing of the text is changed by the shell, and no line of it ends it.
func HereDocument(command, text string) string {
	text = strings.TrimSuffix(text, "\n")
	end := "CARILLON"
	for n := 2; hasLine(text, end); n++ {
		end = fmt.Sprintf("CARILLON%d", n)
	}
	return command + " <<'" + end + "'\n" + text + "\n" + end + "\n"
}

func hasLine(text, line string) bool {
	for one := range strings.SplitSeq(text, "\n") {
		if one == line {
			return true
		}
	}
	return false
}

// Untemplated keeps "nats pub" from taking a part of JSON for one of its templates. Outside of a text, no JSON without space
// has two brackets beside each other that open.
func Untemplated(json string) string { return strings.ReplaceAll(json, "{{", `{\u007b`) }

// variable begins what "carillon apply" replaces in texts.
const variable = "${CARILLON_"

// Escaped returns a document for "carillon apply", in which every text that it would take for a variable stands for itself.
func Escaped(v document.Value) document.Value {
	switch v.Kind() { //nolint:exhaustive // the others have no texts
	case document.KindString:
		if v.IsSecret() {
			return v
		}
		return document.StringValue(escapedText(v.Text()))
	case document.KindArray:
		items := make([]document.Value, len(v.Items()))
		for i, item := range v.Items() {
			items[i] = Escaped(item)
		}
		return document.ArrayValue(items...)
	case document.KindObject:
		members := make([]document.Member, len(v.Members()))
		for i, m := range v.Members() {
			members[i] = document.Member{Name: m.Name, Value: Escaped(m.Value)}
		}
		return document.ObjectValue(members...)
	}
	return v
}

// escapedText puts a $ before every variable.
func escapedText(s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, variable)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if name, _, closed := strings.Cut(after, "}"); closed && isName(name) {
			b.WriteByte('$')
		}
		b.WriteString(variable)
		s = after
	}
}

func isName(s string) bool {
	return s != "" && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}
