package schema_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/schema"
)

// TestEveryPathIsDescribed compares the descriptions with what readers ask for, both ways, and their examples with the
// forms of the members.
func TestEveryPathIsDescribed(t *testing.T) {
	used := map[string]bool{}
	see := func(path string, s *document.Shape) {
		d, key := schema.Describe(path)
		if d.Text == "" {
			t.Errorf("%s is asked for, and not described", path)
		}
		if !fits(t, s, d.Example) {
			t.Errorf("%s: the example %s is none of %v", path, d.Example, s.Forms)
		}
		used[key] = true
	}
	all := registry(t)
	job := scheduler.JobShape(all)
	for root, shape := range map[string]*document.Shape{"job": job, "collection": scheduler.CollectionShape(all, job)} {
		see(root, shape)
		eachPath(root, shape.Members, see)
	}
	paths := schema.DescribedPaths()
	for _, key := range paths {
		if !used[key] {
			t.Errorf("%s is described, and nobody asks for it", key)
		}
	}
	if len(slices.Compact(slices.Clone(paths))) != len(paths) {
		t.Error("something is described twice")
	}
}

// eachPath gives to see the members of an object and of those in it, with their paths as they are told to people.
func eachPath(path string, m *document.Members, see func(path string, s *document.Shape)) {
	if m == nil {
		return
	}
	all := slices.Clone(m.Known)
	if m.Free != nil {
		all = append(all, m.Free)
	}
	for _, s := range all {
		inner := path + "." + s.Name
		see(inner, s)
		if s.Name == "properties" {
			inner = path
		}
		eachPath(inner, s.Members, see)
	}
	for _, kind := range m.Kinds {
		eachPath(path, kind.Members, see)
	}
}

// fits reports whether an example has one of the forms of a shape.
func fits(t *testing.T, s *document.Shape, example string) bool {
	if example == "" {
		return true
	}
	v, err := document.Parse([]byte(example))
	if err != nil {
		t.Errorf("%s: %v", example, err)
	}
	return slices.ContainsFunc(s.Forms, func(f document.Form) bool {
		switch f.Kind { //nolint:exhaustive // others have no examples
		case document.FormText:
			return v.Kind() == document.KindString
		case document.FormWord:
			return slices.Contains(f.Words, v.Text())
		case document.FormBoolean:
			return v.Kind() == document.KindBool
		case document.FormInteger:
			n, err := strconv.ParseInt(v.Text(), 10, 64)
			return err == nil && n >= f.Least && n <= f.Most
		case document.FormLength:
			d, err := document.ParseDuration(v.Text())
			return err == nil && (!f.Bounded() || int64(d.Exact) >= f.Least && int64(d.Exact) <= f.Most)
		case document.FormTime:
			_, err := document.ParseTime(v.Text())
			return err == nil
		case document.FormSecret, document.FormObject:
			return v.Kind() == document.KindObject
		case document.FormList:
			return v.Kind() == document.KindArray && len(v.Items()) > 0
		}
		return false
	})
}
