package importer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// tree is a document whose members are marked as they are read.
type tree struct {
	v    document.Value
	used []string
}

// take marks a member, given by its path, with all that is in it.
func (t *tree) take(path string) (v document.Value, ok bool) {
	v = t.v
	for name := range strings.SplitSeq(path, ".") {
		if v, ok = v.Member(name); !ok {
			return v, false
		}
	}
	t.used = append(t.used, path)
	return v, v.Kind() != document.KindNull
}

// text marks a field and returns its text, or the text of its number or boolean. For an absent field or another kind,
// it returns "" without marking the field.
func (t *tree) text(path string) string {
	v, ok := t.take(path)
	if !ok {
		return ""
	}
	switch v.Kind() {
	case document.KindString:
		return v.Text()
	case document.KindNumber, document.KindBool:
		return v.String()
	default:
		t.used = t.used[:len(t.used)-1]
		return ""
	}
}

// number is a text that is a whole number; false when it is none: then it is not marked.
func (t *tree) number(path string) (int, bool) {
	text := t.text(path)
	n, err := strconv.Atoi(text)
	if err != nil && text != "" {
		t.used = t.used[:len(t.used)-1]
	}
	return n, err == nil
}

// rest returns the paths of unread fields.
func (t *tree) rest() []string { return t.unread(t.v, "") }

func (t *tree) unread(v document.Value, path string) (paths []string) {
	below := func(used string) bool {
		return strings.HasPrefix(used, path+".") || strings.HasPrefix(used, path+"[") || path == ""
	}
	switch {
	case slices.Contains(t.used, path):
		return nil
	case v.Kind() == document.KindObject && (path == "" || slices.ContainsFunc(t.used, below)):
		for _, m := range v.Members() {
			paths = append(paths, t.unread(m.Value, strings.TrimPrefix(path+"."+m.Name, "."))...)
		}
		return paths
	}
	return []string{path}
}

// dropRest reports the unread fields of an entry. why maps path prefixes to reasons.
func (r *reading) dropRest(entry string, t *tree, why map[string]string) {
	for _, path := range t.rest() {
		message := "has no counterpart"
		for begin, reason := range why {
			if path == begin || strings.HasPrefix(path, begin+".") {
				message = reason
			}
		}
		r.notef(Dropped, entry, path, "%s", message)
	}
}

// fields are the fields of a document that is being built.
type fields []document.Member

// object returns fields from pairs of a name and a value, as [fields.set] takes them.
func object(pairs ...any) (f fields) {
	for pair := range slices.Chunk(pairs, 2) {
		f.set(pair[0].(string), pair[1]) //nolint:forcetypeassert // the callers write names
	}
	return f
}

// retries returns a policy for retries. None for a count of 0.
func retries(kind, interval string, count int, longest string) fields {
	if count == 0 {
		return object("retryType", "none")
	}
	return object("retryType", kind, "retryInterval", interval, "retryCount", count, "maxRetryInterval", longest)
}

// set adds a member, unless its value is empty: a text, a number, a truth, fields, or a value.
func (f *fields) set(name string, value any) {
	var v document.Value
	switch value := value.(type) {
	case string:
		if value == "" {
			return
		}
		v = document.StringValue(value)
	case int:
		v = document.NumberValue(strconv.Itoa(value))
	case bool:
		v = document.BoolValue(value)
	case fields:
		if len(value) == 0 {
			return
		}
		v = document.ObjectValue(value...)
	case document.Value:
		v = value
	default:
		panic(fmt.Sprintf("importer: a member of type %T", value))
	}
	*f = append(*f, document.Member{Name: name, Value: v})
}

// documents returns the documents of a JSON or YAML file, with lists replaced by their elements. Fields next to a list
// are reported, except those without effect on the entries.
func (r *reading) documents(data []byte, lists ...string) ([]document.Value, error) {
	file, err := document.ParseFile(data)
	if err != nil {
		return nil, err
	}
	var all []document.Value
	for _, v := range file.Documents {
		all = append(all, r.unlisted(v, lists)...)
	}
	return all, nil
}

// unlisted returns a value, or its elements if it is an array or an object with one of the lists.
func (r *reading) unlisted(v document.Value, lists []string) (all []document.Value) {
	items, isList := v.Items(), v.Kind() == document.KindArray
	for _, name := range lists {
		if list, ok := v.Member(name); ok && list.Kind() == document.KindArray {
			items, isList = append(items, list.Items()...), true
			r.beside(v, name, lists)
		}
	}
	if !isList {
		return []document.Value{v}
	}
	for _, item := range items {
		all = append(all, r.unlisted(item, lists)...)
	}
	return all
}

// The fields that may be next to a list: the token of its next page, by source, and fields without effect on the
// entries.
var (
	nextPage = []string{"NextToken", "nextLink", "next", "metadata.continue"}
	ofList   = []string{
		"apiVersion", "kind", "count", "previous", "metadata.resourceVersion", "metadata.selfLink", "metadata.remainingItemCount",
	}
)

// beside reports the fields next to a list. A list with a next page is incomplete, which affects the exit code.
func (r *reading) beside(v document.Value, list string, lists []string) {
	t := &tree{v: v, used: slices.Concat(lists, ofList)}
	entry := "the list " + list
	for _, path := range nextPage {
		if v, ok := t.take(path); ok && !isEmpty(v) {
			r.notef(Failed, entry, path, "there are more entries than these: import the other pages, too")
		}
	}
	r.dropRest(entry, t, nil)
}

// isEmpty reports whether a value says nothing.
func isEmpty(v document.Value) bool {
	switch v.Kind() {
	case document.KindNull:
		return true
	case document.KindString:
		return v.Text() == ""
	case document.KindArray:
		return len(v.Items()) == 0
	case document.KindObject:
		return len(v.Members()) == 0
	default:
		return false
	}
}
