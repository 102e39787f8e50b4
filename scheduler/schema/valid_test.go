package schema_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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
func compiled(t *testing.T, text []byte) *jsonschema.Schema {
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
func invalid(t *testing.T, s *jsonschema.Schema, v document.Value) error {
	t.Helper()
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(v.JSON()))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(parsed)
}

// readable returns what the reader of jobs, or of collections, has against a document. It brings the names in that of a
// job into canonical spelling. The reader of collections drops what is null, whatever its name; the schema knows names only.
func readable(actions scheduler.ActionReader, v document.Value) error {
	if v.Kind() != document.KindObject {
		return scheduler.ErrInvalid
	}
	if kind, _ := v.Member("type"); strings.HasSuffix(kind.Text(), "/jobCollections") {
		c, err := scheduler.ReadCollection(nameOf(v, "c"), v)
		if err == nil {
			_, err = c.ReadDefaults(actions, scheduler.Limits{MinRetryInterval: time.Second})
		}
		if err != nil || !v.Equal(document.Merge(document.ObjectValue(), v)) {
			return scheduler.ErrInvalid
		}
		return nil
	}
	k := scheduler.Key{Collection: "default", Job: nameOf(v, "job")}
	if c, ok := v.Member("collection"); ok && c.Text() != "" {
		k.Collection = c.Text()
	}
	r := scheduler.DefinitionDecoder{Limits: scheduler.Limits{MinRetryInterval: time.Second}, Actions: actions, Key: k, Now: time.Now()}
	_, err := r.Document(v).Definition()
	return err
}

// spelled returns a document with the names of one like it, which is in canonical spelling.
func spelled(v, like document.Value) document.Value {
	switch v.Kind() { //nolint:exhaustive // the others have no names
	case document.KindArray:
		items := slices.Clone(v.Items())
		for i := range items {
			if i < len(like.Items()) {
				items[i] = spelled(items[i], like.Items()[i])
			}
		}
		return document.ArrayValue(items...)
	case document.KindObject:
		members := slices.Clone(v.Members())
		for i, m := range members {
			for _, same := range like.Members() {
				if strings.EqualFold(same.Name, m.Name) {
					members[i] = document.Member{Name: same.Name, Value: spelled(m.Value, same.Value)}
				}
			}
		}
		return document.ObjectValue(members...)
	}
	return v
}

// nameOf returns the name that a document says, or another.
func nameOf(v document.Value, otherwise string) string {
	name, _ := v.Member("name")
	if name.Text() == "" {
		return otherwise
	}
	return name.Text()[strings.LastIndexByte(name.Text(), '/')+1:]
}

// TestDocumentsAreValid has the schema of jobs accept the documents of all examples, of the guide, and of the tests of the
// command line, as far as the readers do.
func TestDocumentsAreValid(t *testing.T) {
	jobs, all := compiled(t, schema.JobText), registry(t)
	count := map[string]int{}
	for _, s := range sources(t) {
		for _, v := range s.documents {
			read := v.Clone()
			if readable(all, read) != nil {
				continue // of another kind, or wrong on purpose
			}
			count[s.kind]++
			if err := invalid(t, jobs, spelled(v, read)); err != nil {
				t.Errorf("%s: %v\n%s", s.name, err, v)
			}
		}
	}
	if count["examples"] < 20 || count["docs"] < 1 || count["testdata"] < 20 {
		t.Errorf("so few documents were looked at: %v", count)
	}
}

// source is a text with documents.
type source struct {
	kind, name string
	documents  []document.Value
}

// wholes, blocks and files find the documents in a file, a page of the guide and a script.
func wholes(text string) []string { return []string{text} }

func blocks(text string) []string {
	var all []string
	for _, m := range regexp.MustCompile("(?s)```(?:yaml|json)\n(.*?)```").FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

func files(text string) []string {
	var all []string
	heads := regexp.MustCompile(`(?m)^-- \S+ --\n`).FindAllStringIndex(text+"\n", -1)
	for i, head := range heads {
		end := len(text)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		all = append(all, text[min(head[1], end):end])
	}
	return all
}

// sources returns all texts with documents that there are. What a file of the tests has wrong on purpose is left out, and a
// variable has a value.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	for _, from := range []struct {
		kind, folder string
		ends         []string
		parts        func(text string) []string
	}{
		{"examples", "../../examples", []string{".yaml", ".json"}, wholes},
		{"docs", "../../cmd/carillon/docs", []string{".md"}, blocks},
		{"testdata", "../../cmd/carillon/testdata", []string{".txtar"}, files},
	} {
		for _, name := range filesOf(t, from.folder, from.ends...) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range from.parts(string(data)) {
				text := strings.ReplaceAll(part, "${CARILLON_ECHO}", "http://127.0.0.1:8080/echo")
				if documents, err := document.ParseAll([]byte(text)); err == nil {
					all = append(all, source{from.kind, name, documents})
				}
			}
		}
	}
	return all
}

// filesOf returns the files below a folder whose names end so.
func filesOf(t *testing.T, folder string, ends ...string) []string {
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
