package jobform

import (
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// lastName is the name at the end of a path without indexes.
func lastName(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// steps are the members and the elements on the way of a path.
func steps(path string) []string {
	var all []string
	for path != "" {
		switch {
		case strings.HasPrefix(path, `["`):
			quoted, err := strconv.QuotedPrefix(path[1:])
			if err != nil {
				return all
			}
			name, _ := strconv.Unquote(quoted)
			all, path = append(all, name), strings.TrimPrefix(path[1+len(quoted):], "]")
		case path[0] == '[':
			index, rest, _ := strings.Cut(path[1:], "]")
			all, path = append(all, "["+index), rest
		case path[0] == '.':
			path = path[1:]
		default:
			end := strings.IndexAny(path+".", ".[")
			all, path = append(all, path[:end]), path[end:]
		}
	}
	return all
}

// valueAt returns what stands at a path, null for nothing.
func valueAt(v document.Value, path string) document.Value {
	v, _ = find(v, path)
	return v
}

// find returns what stands at a path, ok if anything does.
func find(v document.Value, path string) (found document.Value, ok bool) {
	for _, step := range steps(path) {
		if index, ok := strings.CutPrefix(step, "["); ok && v.Kind() == document.KindArray {
			i, err := strconv.Atoi(index)
			if err != nil || i < 0 || i >= len(v.Items()) {
				return document.Value{}, false
			}
			v = v.Items()[i]
			continue
		}
		i := indexOf(v.Members(), step)
		if i < 0 {
			return document.Value{}, false
		}
		v = v.Members()[i].Value
	}
	return v, true
}

// Lists are the paths of the lists that a path leads into, the outermost first.
func Lists(path string) []string {
	var all []string
	for i := range len(path) - 1 {
		if path[i] == '[' && path[i+1] >= '0' && path[i+1] <= '9' {
			all = append(all, path[:i])
		}
	}
	return all
}

// Masked returns a document with a text in the place of what stands at some paths, as of secrets that were typed.
func Masked(v document.Value, paths []string, text string) document.Value {
	return Replaced(v, paths, document.StringValue(text))
}

// Replaced returns a document with another value at some paths, where there is one.
func Replaced(v document.Value, paths []string, now document.Value) document.Value {
	for _, path := range paths {
		v = changed(v, steps(path), func(document.Value) got { return got{now, true} })
	}
	return v
}

// Without returns a document without what stands at some paths.
func Without(v document.Value, paths []string) document.Value {
	for _, path := range paths {
		v = changed(v, steps(path), func(document.Value) got { return got{} })
	}
	return v
}

// At returns what stands at a path, null for nothing. Names may be in any letter case.
func At(v document.Value, path string) document.Value { return valueAt(v, path) }

// Has reports whether something stands at a path, null too.
func Has(v document.Value, path string) bool {
	_, ok := find(v, path)
	return ok
}

// changed returns a document with something else at the end of some steps, if there is anything.
func changed(v document.Value, way []string, change func(document.Value) got) document.Value {
	if len(way) == 0 {
		return change(v).v
	}
	index, isIndex := strings.CutPrefix(way[0], "[")
	if isIndex && v.Kind() == document.KindArray {
		items := slices.Clone(v.Items())
		if i, err := strconv.Atoi(index); err == nil && i >= 0 && i < len(items) {
			items[i] = changed(items[i], way[1:], change)
		}
		return document.ArrayValue(items...)
	}
	i := indexOf(v.Members(), way[0])
	if i < 0 {
		return v
	}
	members := slices.Clone(v.Members())
	now := got{ok: true}
	if len(way) == 1 {
		now = change(members[i].Value)
	} else {
		now.v = changed(members[i].Value, way[1:], change)
	}
	return document.ObjectValue(put(members, i, members[i].Name, now)...)
}
