package consoletest

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// A Form is a form of a page, as seen by a browser without scripts.
type Form struct {
	Action, Method string
	Values         url.Values // submitted if unchanged, without buttons
	Buttons        []Button
}

// Button is a submit button.
type Button struct{ Name, Value, Text string }

// Forms returns the forms of a page, or of a part of a page.
func Forms(tb testing.TB, page string) []*Form {
	tb.Helper()
	root, err := html.Parse(strings.NewReader(withoutSuggestions(page)))
	if err != nil {
		tb.Fatal(err)
	}
	var forms []*Form
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == "form" {
			forms = append(forms, formOf(n))
		}
	}
	return forms
}

// withoutSuggestions returns a page without the values that fields suggest, which are longer than the rest of it.
func withoutSuggestions(page string) string {
	before, rest, found := strings.Cut(page, "<datalist")
	if !found {
		return page
	}
	_, after, _ := strings.Cut(rest, "</datalist>")
	return before + withoutSuggestions(after)
}

func formOf(form *html.Node) *Form {
	f := &Form{Action: attribute(form, "action"), Method: strings.ToUpper(attribute(form, "method")), Values: url.Values{}}
	for n := range form.Descendants() {
		if n.Type != html.ElementNode || has(n, "disabled") {
			continue
		}
		name, kind := attribute(n, "name"), attribute(n, "type")
		switch {
		case n.Data == "button":
			f.Buttons = append(f.Buttons, Button{name, attribute(n, "value"), textOf(n)})
		case name == "", (kind == "checkbox" || kind == "radio") && !has(n, "checked"):
		case n.Data == "input":
			f.Values.Add(name, strings.NewReplacer("\r", "", "\n", "").Replace(attribute(n, "value")))
		case n.Data == "textarea": // like browsers, the parser drops the first line end; browsers submit CR LF
			text := strings.ReplaceAll(strings.ReplaceAll(textOf(n), "\r\n", "\n"), "\r", "\n")
			f.Values.Add(name, strings.ReplaceAll(text, "\n", "\r\n"))
		case n.Data == "select":
			f.Values.Add(name, chosen(n))
		}
	}
	return f
}

// chosen returns the value of a select: the last selected option, or the first option.
func chosen(n *html.Node) string {
	var values []string
	at := 0
	for option := range n.Descendants() {
		if option.Type != html.ElementNode || option.Data != "option" {
			continue
		}
		if has(option, "selected") {
			at = len(values)
		}
		value := strings.TrimSpace(textOf(option))
		if has(option, "value") {
			value = attribute(option, "value")
		}
		values = append(values, value)
	}
	if len(values) == 0 {
		return ""
	}
	return values[at]
}

func attribute(n *html.Node, name string) string {
	i := slices.IndexFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
	if i < 0 {
		return ""
	}
	return n.Attr[i].Val
}

func has(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for inner := range n.Descendants() {
		if inner.Type == html.TextNode {
			b.WriteString(inner.Data)
		}
	}
	return b.String()
}
