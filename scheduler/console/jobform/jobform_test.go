package jobform_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"pgregory.net/rapid"

	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/console/consoletest"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/jobform"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// written writes a form alone.
var written = template()

func template() func(tb testing.TB, r *jobform.Reading) string {
	files := fstest.MapFS{"page.html": {Data: []byte(`{{define "page"}}<form>{{template "jobform-problems" .}}{{template "jobform" .}}</form>{{end}}`)}}
	all := frame.Templates(files, "page.html").With(jobform.Files, "*.html")
	return func(tb testing.TB, r *jobform.Reading) string {
		tb.Helper()
		var b strings.Builder
		if err := all().ExecuteTemplate(&b, "page", r); err != nil {
			tb.Fatal(err)
		}
		return b.String()
	}
}

var form = func() *jobform.Form {
	all := builtin.New(builtin.Config{})
	defer all.Close()
	return jobform.New(scheduler.JobShape(all).Flat("properties"))
}()

// sent is a form as a browser sends it that nobody has touched.
func sent(tb testing.TB, r *jobform.Reading) url.Values {
	tb.Helper()
	return consoletest.Forms(tb, written(tb, r))[0].Values
}

func parse(t *testing.T, text string) document.Value {
	t.Helper()
	v, err := document.Parse([]byte(text))
	if err != nil {
		t.Fatal(err, text)
	}
	return v
}

// unchanged sends a form that nobody has touched, and compares the document with the one before.
func unchanged(tb testing.TB, fail func(format string, args ...any), v document.Value, stored []string) {
	tb.Helper()
	in := jobform.Input{Document: v, Stored: stored}
	opened := form.Read(in)
	if !opened.Document.Equal(v) {
		fail("opened: %sof %s", differ(v, opened.Document), v)
	}
	in.Values = sent(tb, opened)
	read := form.Read(in)
	if !read.Document.Equal(v) || len(read.Problems) > 0 {
		fail("sent: %s%v\nof %s", differ(v, read.Document), read.Problems, v)
	}
}

// differ tells where two documents differ.
func differ(v, w document.Value) string {
	var b strings.Builder
	for _, c := range document.Difference("", v, w) {
		fmt.Fprintf(&b, "%s: %q, want %q\n", c.Path, c.After, c.Before)
	}
	return b.String()
}

// TestExamplesStay opens each example and sends it without a change.
func TestExamplesStay(t *testing.T) {
	found := 0
	for _, folder := range []string{"jobs", "actions", "authentication", "schedules"} {
		files, err := filepath.Glob("../../../examples/" + folder + "/*")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range documents(t, data) {
				found++
				t.Run(filepath.Base(file), func(t *testing.T) {
					shown, stored := stored(t, v)
					unchanged(t, t.Fatalf, shown, stored)
				})
			}
		}
	}
	if found < 20 {
		t.Errorf("there were %d examples", found)
	}
}

// stored returns a job as it is shown once it is stored, and where its secrets are.
func stored(t *testing.T, v document.Value) (shown document.Value, paths []string) {
	t.Helper()
	all := builtin.New(builtin.Config{})
	defer all.Close()
	if inner, ok := v.Member("properties"); ok {
		v = inner
	}
	read := v.Except("name", "collection").Clone()
	r := scheduler.Reading{Limits: scheduler.Limits{MinRetryInterval: time.Second}, Actions: all, Key: scheduler.Key{Collection: "default", Job: "job"}}
	def, err := r.Definition(read)
	if err != nil {
		t.Fatal(err)
	}
	paths, _ = def.Document().SecretPaths()
	return parse(t, def.Document().String()), paths
}

func documents(t *testing.T, data []byte) []document.Value {
	t.Helper()
	text := strings.ReplaceAll(string(data), "${CARILLON_ECHO}", "http://echo.example")
	all, err := document.ParseAll([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestDocumentsStay opens documents of any kind, right and wrong ones, and sends them without a change.
func TestDocumentsStay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		v := drawJob(rt)
		unchanged(t, rt.Fatalf, v, nil)
	})
}
