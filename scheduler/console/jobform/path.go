package jobform

import (
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
	for _, step := range steps(path) {
		if index, ok := strings.CutPrefix(step, "["); ok && v.Kind() == document.KindArray {
			i, err := strconv.Atoi(index)
			if err != nil || i < 0 || i >= len(v.Items()) {
				return document.Value{}
			}
			v = v.Items()[i]
			continue
		}
		i := indexOf(v.Members(), step)
		if i < 0 {
			return document.Value{}
		}
		v = v.Members()[i].Value
	}
	return v
}

// listAround is the path of the outermost list that a path leads into, "" for none.
func listAround(path string) string {
	for i := range len(path) - 1 {
		if path[i] == '[' && path[i+1] >= '0' && path[i+1] <= '9' {
			return path[:i]
		}
	}
	return ""
}
