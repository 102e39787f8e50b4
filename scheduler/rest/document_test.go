package rest_test

import (
	"cmp"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/rest"
)

// TestDocumentRules holds the document against what the OpenAPI Specification 3.1.1 asks for, section 4.8, beyond the names
// and kinds of members that Go types give it.
func TestDocumentRules(t *testing.T) {
	var raw map[string]any
	must.Do(t, json.Unmarshal(rest.OpenAPI("1.2.3"), &raw))
	every(raw, func(member string, v any) {
		if ref, ok := v.(string); ok && member == "$ref" && !leads(raw, ref) {
			t.Errorf("%s leads nowhere", ref)
		}
	})
	for name := range theAPI().Components.Schemas {
		if !regexp.MustCompile(`^[a-zA-Z0-9._-]+$`).MatchString(name) {
			t.Errorf("component %s", name)
		}
		if _, err := theAPI().compiled(map[string]any{"$ref": "#/components/schemas/" + name}); err != nil {
			t.Errorf("schema %s: %v", name, err)
		}
	}
	ids := map[string]bool{}
	for path, operations := range theAPI().Paths {
		for method, op := range operations {
			if ids[op.ID] || op.ID == "" || op.Summary == "" || len(op.Responses) == 0 {
				t.Errorf("%s %s: %+v", method, path, op)
			}
			ids[op.ID] = true
			checkParameters(t, path, op)
		}
	}
}

// checkParameters finds each part of a path that stands for a name among the parameters, and each parameter once.
func checkParameters(t *testing.T, path string, op promised) {
	t.Helper()
	var of, named []string
	for _, p := range op.Parameters {
		if key := p.In + " " + p.Name; slices.Contains(named, key) {
			t.Errorf("%s: the parameter %s twice", op.ID, key)
		}
		named = append(named, p.In+" "+p.Name)
		if p.In == "path" && p.Required {
			of = append(of, "{"+p.Name+"}")
		}
	}
	if in := regexp.MustCompile(`\{\w+\}`).FindAllString(path, -1); !slices.Equal(of, in) {
		t.Errorf("%s: the parameters %v of %s", op.ID, of, path)
	}
}

// every looks at each member of a document.
func every(v any, look func(member string, v any)) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			every(item, look)
		}
	case map[string]any:
		for name, member := range v {
			look(name, member)
			every(member, look)
		}
	}
}

// leads reports whether there is something at a reference within a document.
func leads(document map[string]any, ref string) bool {
	var v any = document
	for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		members, _ := v.(map[string]any)
		v = members[part]
	}
	return v != nil && strings.HasPrefix(ref, "#/")
}

// TestExamples puts the jobs of the examples: they are what the document says that a request is, and so are the answers.
func TestExamples(t *testing.T) {
	all := builtin.New(builtin.Config{})
	t.Cleanup(all.Close)
	w := newHarness(t)
	w.service = control.New(control.Config{Store: w.store, Actions: all, Secrets: w.vault})
	w.serve(nil)
	w.must(http.MethodPatch, "/jobCollections/default", `{"properties": {"minRetryInterval": "PT1S"}}`)
	variable, secretName := regexp.MustCompile(`\$\{CARILLON_\w+\}`), regexp.MustCompile(`"secretRef":"([^"]+)"`)
	jobs := 0
	err := filepath.WalkDir("../../examples", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == "kubernetes" { // whose manifests are written in another YAML
			return fs.SkipDir
		}
		if ext := filepath.Ext(path); err != nil || ext != ".yaml" && ext != ".json" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		documents, err := document.ParseAll(variable.ReplaceAll(text, []byte("http://127.0.0.1:1")))
		if err != nil {
			return err
		}
		for _, d := range documents {
			var named struct {
				Name string `json:"name"`
				Type string `json:"type"`
			}
			if err := json.Unmarshal(d.JSON(), &named); err != nil {
				continue // no object
			}
			if _, ok := d.Member("action"); !ok {
				if named.Type == "Microsoft.Scheduler/jobCollections" {
					w.must(http.MethodPut, "/jobCollections/"+named.Name, string(d.JSON()))
				}
				continue
			}
			jobs++
			if err := theAPI().validate(map[string]any{"$ref": "#/components/schemas/Job"}, d.JSON()); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			for _, found := range secretName.FindAllStringSubmatch(string(d.JSON()), -1) {
				w.must(http.MethodPut, "/secrets/"+found[1], `{"value": "x"}`)
			}
			target := "/jobCollections/default/jobs/" + cmp.Or(named.Name, strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
			if collection, job, ok := strings.Cut(named.Name, "/"); ok {
				target = "/jobCollections/" + collection + "/jobs/" + job
			}
			w.do(http.MethodDelete, target, "") // of an example of the same name in another folder
			if r := w.do(http.MethodPut, target, string(d.JSON())); r.status != http.StatusCreated {
				t.Errorf("%s: %d %s", path, r.status, r.body)
			}
		}
		return nil
	})
	if err != nil || jobs < 20 {
		t.Errorf("%d jobs, %v", jobs, err)
	}
}

// TestPromiseBites shows answers that are found wrong, each beside the one that is right.
func TestPromiseBites(t *testing.T) {
	const job = `{"id": "i", "type": "t", "name": "n", "properties": {"state": "enabled", "status": {"schedule": "", "occurrenceCount": 0, "executionCount": 0, "failureCount": 0, "faultedCount": 0}}}`
	get := func(path string) *http.Request {
		return httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
	}
	for _, test := range []struct {
		name         string
		path         string
		status       int
		media, body  string
		header, want string
	}{
		{"right", "/jobCollections/c/jobs/j", 200, "application/json", job, "Etag", ""},
		{"another status", "/jobCollections/c/jobs/j", 201, "application/json", job, "Etag", "does not have the status"},
		{"another media type", "/jobCollections/c/jobs/j", 200, "text/html", job, "Etag", "the media type text/html is not told of"},
		{"another header", "/jobCollections/c/jobs/j", 200, "application/json", job, "Retry-After", "the header Retry-After is not told of"},
		{"a member more", "/jobCollections/c/jobs/j", 200, "application/json", strings.Replace(job, `{"id"`, `{"secret": 1, "id"`, 1), "Etag", "additional properties 'secret'"},
		{"a member less", "/jobCollections/c/jobs/j", 200, "application/json", strings.Replace(job, `"name": "n", `, "", 1), "Etag", "missing property 'name'"},
		{"another kind", "/jobCollections/c/jobs/j", 200, "application/json", strings.Replace(job, `"enabled"`, "true", 1), "Etag", "want string"},
		{"no body", "/jobCollections/c/jobs/j", 200, "", "", "Etag", "there is no body"},
		{"no header", "/jobCollections/c/jobs/j", 503, "application/json", `{"error": {"code": "ServiceUnavailable", "message": "m"}}`, "Server", "there is no header Retry-After"},
		{"another code", "/jobCollections/c/jobs/j", 400, "application/json", `{"error": {"code": "Conflict", "message": "m"}}`, "Server", "must be one of"},
		{"no operation", "/nowhere", 200, "application/json", job, "Etag", "does not have the operation"},
	} {
		head := http.Header{"X-Ms-Request-Id": {"1"}, "X-Ms-Correlation-Request-Id": {"1"}, test.header: {"1"}}
		if test.media != "" {
			head.Set("Content-Type", test.media)
		}
		answer := &kept{status: test.status, head: head}
		answer.body.WriteString(test.body)
		_, err := theAPI().check(get(test.path), answer)
		if err == nil && test.want != "" || err != nil && (test.want == "" || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}
