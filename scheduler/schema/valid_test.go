package schema_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/schema"
)

// compiled is a schema that was found valid against the metaschema of its draft.
func compiled(t testing.TB, text []byte) *jsonschema.Schema {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", v); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// invalid is what is wrong with a document, nil for nothing.
func invalid(t testing.TB, s *jsonschema.Schema, v document.Value) error {
	t.Helper()
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(v.JSON()))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(parsed)
}

// parse returns the documents of a text.
func parse(t testing.TB, text string) []document.Value {
	t.Helper()
	all, err := document.ParseAll([]byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return all
}

// readable reports whether the reader of jobs, or collections, accepts a document.
func readable(actions scheduler.ActionReader, v document.Value) error {
	if kind, _ := v.Member("type"); strings.HasSuffix(kind.Text(), "/jobCollections") {
		_, err := scheduler.ReadCollection(nameOf(v, "c"), v)
		return err
	}
	k := scheduler.Key{Collection: "default", Job: nameOf(v, "job")}
	if c, ok := v.Member("collection"); ok && c.Text() != "" {
		k.Collection = c.Text()
	}
	r := scheduler.Reading{Limits: scheduler.Limits{MinRetryInterval: time.Second}, Actions: actions, Key: k, Now: time.Now()}
	_, err := r.Document(v.Clone()).Definition()
	return err
}

// nameOf returns the name that a document says, or another.
func nameOf(v document.Value, otherwise string) string {
	name, _ := v.Member("name")
	if name.Text() == "" {
		return otherwise
	}
	return name.Text()[strings.LastIndexByte(name.Text(), '/')+1:]
}

// TestExamplesAreValid has the schema of jobs accept the documents of all examples, of the guide, and of the tests of
// the command line.
func TestExamplesAreValid(t *testing.T) {
	jobs := compiled(t, schema.JobText)
	all := registry(t)
	var documents int
	check := func(file, text string) {
		for _, v := range parse(t, text) {
			if _, isJob := v.Member("action"); !isJob && readable(all, v) != nil {
				continue // of another kind
			}
			documents++
			if err := invalid(t, jobs, v); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	for _, file := range filesOf(t, "../../examples", ".yaml", ".json") {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		check(file, string(data))
	}
	if documents < 20 {
		t.Errorf("only %d documents were looked at", documents)
	}
}

// filesOf returns the files below a folder whose names end so.
func filesOf(t testing.TB, folder string, ends ...string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if slices.Contains(ends, filepath.Ext(path)) {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
