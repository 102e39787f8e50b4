package openapi

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

var update = flag.Bool("update", false, "write sources.json anew")

// served are the types of answers that package rest has to itself.
var served = []string{"rest.processStatus", "rest.armResource", "rest.armResourceType", "rest.provisioning", "rest.awxZone"}

// TestSources holds what is embedded of the sources against them.
func TestSources(t *testing.T) {
	wanted := map[string]string{} // folders, by type
	for _, name := range served {
		wanted[name] = ".."
	}
	for _, typ := range typesOf(documents()) {
		walk(typ, wanted)
	}
	all := map[string]source{}
	for _, dir := range slices.Compact(slices.Sorted(maps.Values(wanted))) {
		read(t, dir, all)
	}
	for name, dir := range wanted {
		if _, ok := all[name]; !ok {
			t.Fatalf("%s: is not declared in %s", name, dir)
		}
	}
	maps.DeleteFunc(all, func(name string, _ source) bool { return wanted[name] == "" })
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	must.Do(t, e.Encode(all))
	if *update {
		must.Do(t, os.WriteFile("sources.json", text.Bytes(), 0o600))
		return
	}
	if diff := cmp.Diff(text.String(), string(sourcesJSON)); diff != "" {
		t.Errorf("go test ./scheduler/rest/openapi -run TestSources -update writes sources.json (-sources +embedded)\n%s", diff)
	}
}

// module is the import path that root, a folder, has.
const module, root = "github.com/carillon-sched/carillon", "../../.."

// walk adds the types that a type is made of, each with the folder of its package.
func walk(t reflect.Type, wanted map[string]string) {
	if t.PkgPath() != "" {
		if _, ok := coded[t]; ok || wanted[t.String()] != "" {
			return
		}
		wanted[t.String()] = root + strings.TrimPrefix(t.PkgPath(), module)
	}
	switch t.Kind() { //nolint:exhaustive // the others are made of nothing
	case reflect.Pointer, reflect.Slice, reflect.Map:
		walk(t.Elem(), wanted)
	case reflect.Struct:
		for f := range t.Fields() {
			if f.Tag.Get("json") != "-" {
				walk(f.Type, wanted)
			}
		}
	}
}

// read adds what the sources of a package tell of its types.
func read(t *testing.T, dir string, all map[string]source) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: has no sources: %v", dir, err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f := must.Get(parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments))(t)
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				for _, s := range g.Specs {
					readSpec(f.Name.Name, g, s, all)
				}
			}
		}
	}
}

// readSpec adds a type, or a constant to the values of its type.
func readSpec(pkg string, g *ast.GenDecl, s ast.Spec, all map[string]source) {
	switch s := s.(type) {
	case *ast.TypeSpec:
		told := all[pkg+"."+s.Name.Name]
		told.Text = plain(cmpOr(s.Doc, g.Doc))
		if fields, ok := s.Type.(*ast.StructType); ok {
			told.Fields = fieldTexts(fields)
		}
		all[pkg+"."+s.Name.Name] = told
	case *ast.ValueSpec:
		typ, ok := s.Type.(*ast.Ident)
		if !ok || g.Tok != token.CONST || len(s.Values) != 1 {
			return
		}
		if literal, ok := s.Values[0].(*ast.BasicLit); ok && literal.Kind == token.STRING {
			value, _ := strconv.Unquote(literal.Value) // which the compiler has read
			told := all[pkg+"."+typ.Name]
			told.Values = append(told.Values, value)
			all[pkg+"."+typ.Name] = told
		}
	}
}

// fieldTexts are the comments of fields by their names in JSON.
func fieldTexts(s *ast.StructType) map[string]string {
	texts := map[string]string{}
	for _, f := range s.Fields.List {
		if f.Tag == nil {
			continue
		}
		tag, _ := strconv.Unquote(f.Tag.Value)
		member, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		if text := plain(cmpOr(f.Comment, f.Doc)); text != "" && member != "" && member != "-" {
			texts[member] = text
		}
	}
	return texts
}

func cmpOr(a, b *ast.CommentGroup) *ast.CommentGroup {
	if a.Text() != "" {
		return a
	}
	return b
}

// link is a link to a declaration, as comments have them.
var link = regexp.MustCompile(`\[([\w.*]+)\]`)

// plain is the first paragraph of a comment, on one line.
func plain(c *ast.CommentGroup) string {
	first, _, _ := strings.Cut(c.Text(), "\n\n")
	return strings.Join(strings.Fields(link.ReplaceAllString(first, "$1")), " ")
}
