package jobfile_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/cmd/carillon/jobfile"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// tree writes files below a new directory and changes into it.
func tree(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		must.Do(t, os.MkdirAll(filepath.Dir(name), 0o700))
		must.Do(t, os.WriteFile(name, []byte(text), 0o600))
	}
}

func variables(name string) (string, bool) {
	v, ok := map[string]string{"CARILLON_ECHO": "http://echo", "CARILLON_EMPTY": ""}[name]
	return v, ok
}

// read returns jobs as "file key body" and problems as lines.
func read(t *testing.T, r jobfile.Reader, files ...string) (jobs, problems []string) {
	t.Helper()
	r.Lookup = variables
	found, wrong := r.Read(files)
	for _, j := range found {
		jobs = append(jobs, j.File+" "+j.Key.String()+" "+string(j.Body))
	}
	for _, p := range wrong {
		problems = append(problems, p.String())
	}
	return jobs, problems
}

func check(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestFind(t *testing.T) {
	tree(t, map[string]string{
		"jobs/b.yaml": "", "jobs/a.json": "", "jobs/deep/c.YML": "", "jobs/README.md": "",
		"jobs/.hidden.yaml": "", "jobs/.git/d.yaml": "", "other.txt": "", "empty/README.md": "",
	})
	files, problems := jobfile.Find([]string{"jobs", "other.txt", "-", "jobs/a.json", "none", "empty"})
	check(t, "files", files, filepath.Join("jobs", "a.json"), filepath.Join("jobs", "b.yaml"),
		filepath.Join("jobs", "deep", "c.YML"), "other.txt", "-")
	lines := make([]string, 0, len(problems))
	for _, p := range problems {
		lines = append(lines, p.String())
	}
	check(t, "problems", lines, "none: no such file or directory", "empty: holds no job files (*.json, *.yaml, *.yml)")
}

func TestNames(t *testing.T) {
	tree(t, map[string]string{
		"base.yaml":    "action: {}",
		"named.json":   `{"name": "n", "collection": "c", "properties": {}}`,
		"slash.yaml":   "name: c/s",
		"many.yaml":    "name: one\n---\n# nothing\n---\nname: two\n",
		"list.json":    `{"value": [{"name": "default/l1"}, {"name": "default/l2"}], "nextLink": null}`,
		"strange.yaml": "name: 7", // the scheduler says what is wrong with it
	})
	jobs, problems := read(t, jobfile.Reader{}, "base.yaml", "named.json", "slash.yaml", "many.yaml", "list.json", "strange.yaml")
	check(t, "problems", problems)
	check(t, "jobs", jobs,
		`base.yaml default/base {"action":{}}`,
		`named.json c/n {"name":"n","collection":"c","properties":{}}`,
		`slash.yaml c/s {"name":"c/s"}`,
		`many.yaml default/one {"name":"one"}`,
		`many.yaml default/two {"name":"two"}`,
		`list.json default/l1 {"name":"default/l1"}`,
		`list.json default/l2 {"name":"default/l2"}`,
		`strange.yaml default/strange {"name":7}`)

	stdin := jobfile.Reader{Collection: "team", Stdin: strings.NewReader("name: piped")}
	jobs, problems = read(t, stdin, "-")
	check(t, "stdin", append(jobs, problems...), `standard input team/piped {"name":"piped"}`)
}

func TestVariables(t *testing.T) {
	for text, want := range map[string]string{
		"${CARILLON_ECHO}/x":                   "http://echo/x",
		"a ${CARILLON_ECHO}, ${CARILLON_ECHO}": "a http://echo, http://echo",
		"[${CARILLON_EMPTY}]":                  "[]",
		"$${CARILLON_ECHO} $":                  "${CARILLON_ECHO} $",
		"${HOME} $HOME $CARILLON_ECHO":         "${HOME} $HOME $CARILLON_ECHO",
		"${CARILLON_ECHO":                      "${CARILLON_ECHO",
		"${CARILLON_x} ${CARILLON_ECHO}":       "${CARILLON_x} http://echo",
	} {
		tree(t, map[string]string{"v.json": `{"a": [{"b": "` + text + `"}]}`})
		jobs, problems := read(t, jobfile.Reader{}, "v.json")
		check(t, text, append(jobs, problems...), `v.json default/v {"a":[{"b":"`+want+`"}]}`)
	}
}

func TestProblems(t *testing.T) {
	tree(t, map[string]string{
		"syntax.json":  "{\n  \"a\":\n}",
		"empty.yaml":   "# nothing\n",
		"text.yaml":    "just text",
		"1st.yaml":     "action: {}",
		"unset.yaml":   "name: unset\naction:\n  uri: ${CARILLON_NO}/${CARILLON_NOR}\n",
		"nameless.yml": "name: a\n---\naction: {}\n---\nname: b c\n",
		"good.yaml":    "name: same",
		"twice.yaml":   "name: same\n---\nname: other\n",
	})
	jobs, problems := read(t, jobfile.Reader{Stdin: strings.NewReader("{}")}, "syntax.json", "empty.yaml", "text.yaml",
		"1st.yaml", "unset.yaml", "nameless.yml", "good.yaml", "twice.yaml", "gone.yaml", "-")
	check(t, "problems", problems,
		"syntax.json:3:1: a: expected a value",
		"empty.yaml: the document is empty",
		"text.yaml:1:1: must be an object, not a string",
		`1st.yaml:1:1: name: is missing, and the file cannot name the job: "1st" must begin with a letter`,
		"unset.yaml:3:8: action.uri: the variable CARILLON_NO is not set",
		"unset.yaml:3:8: action.uri: the variable CARILLON_NOR is not set",
		"nameless.yml:3:1: name: is missing: among several jobs of a file, each must have one",
		`nameless.yml:5:7: job: "b c" must not contain ' ': letters, digits, - and _ are allowed`,
		"twice.yaml:1:7: name: default/same is defined in good.yaml already",
		"gone.yaml: no such file or directory",
		"standard input:1:1: name: is missing")
	check(t, "jobs", jobs, `good.yaml default/same {"name":"same"}`)
}

// TestComments shows that a JSON file may have comments, and a comma too many.
func TestComments(t *testing.T) {
	tree(t, map[string]string{"c.json": "// a job\n{\n  \"name\": \"n\", // its name\n  /* no action */\n}\n"})
	jobs, problems := read(t, jobfile.Reader{}, "c.json")
	check(t, "jobs", append(jobs, problems...), `c.json default/n {"name":"n"}`)
}

// TestPlacesOfProblems shows that what the scheduler says of a job is told with its place in the file, in their order.
func TestPlacesOfProblems(t *testing.T) {
	tree(t, map[string]string{
		"j.json": "{\n  \"properties\": {\n    \"action\": {\"type\": \"http\"}\n  }\n}",
		"y.yaml": "# jobs\nname: one\n---\nname: two\nrecurrence:\n  Cron: x\n",
		"l.json": "{\"value\": [{\"name\": \"a\"},\n  {\"name\": \"b\",\n   \"jitter\": 1}]}",
	})
	r := jobfile.Reader{Lookup: variables}
	jobs, _ := r.Read([]string{"j.json", "y.yaml", "l.json"})
	results := jobfile.Apply(t.Context(), jobs, func(_ context.Context, j jobfile.Job) (jobfile.Answer, error) {
		return jobfile.Answer{}, scheduler.AsInvalid(map[string]document.Problems{
			"j":   {{Path: "properties.action.request", Message: "is required"}, {Path: "properties.foo", Message: "x"}},
			"one": {{Path: "action", Message: "is required"}},
			"two": {{Path: "recurrence.cron", Message: "wrong"}},
			"a":   {{Path: "action", Message: "is required"}},
			"b":   {{Path: "jitter", Message: "wrong"}},
		}[j.Key.Job])
	})
	var lines []string
	for _, r := range results {
		for _, p := range r.Problems {
			lines = append(lines, p.String())
		}
	}
	check(t, "problems", lines,
		"j.json:2:3: properties.foo: x",
		"j.json:3:5: properties.action.request: is required",
		"y.yaml:2:1: action: is required",
		"y.yaml:6:9: recurrence.cron: wrong",
		"l.json:1:12: action: is required",
		"l.json:3:14: jitter: wrong",
	)
}

func TestApply(t *testing.T) {
	keys := []string{"good", "bad", "gone", "old"}
	jobs := make([]jobfile.Job, len(keys))
	for i, k := range keys {
		jobs[i] = jobfile.Job{Source: jobfile.Source{File: k + ".yaml"}, Key: scheduler.Key{Collection: "c", Job: k}}
	}
	down := errors.New("down")
	results := jobfile.Apply(t.Context(), jobs, func(_ context.Context, j jobfile.Job) (jobfile.Answer, error) {
		switch j.Key.Job {
		case "bad":
			return jobfile.Answer{}, scheduler.AsInvalid(document.Problems{{Path: "a", Message: "wrong"}, {Path: "b", Message: "too"}})
		case "gone":
			return jobfile.Answer{}, down
		case "old":
			return jobfile.Answer{Result: v1.Unchanged, Warnings: []spec.Warning{{Path: "timeZone", Message: "is without effect"}}}, nil
		}
		return jobfile.Answer{Result: v1.Created}, nil
	})
	var lines []string
	for _, r := range results {
		lines = append(lines, r.Job.Key.String()+" "+string(r.Result))
		for _, p := range append(r.Warned, r.Problems...) {
			lines = append(lines, p.String())
		}
	}
	check(t, "results", lines, "c/good created", "c/bad ", "bad.yaml: c/bad: a: wrong", "bad.yaml: c/bad: b: too",
		"c/gone ", "gone.yaml: c/gone: down", "c/old unchanged", "old.yaml: c/old: timeZone: is without effect")
	if !slices.ContainsFunc(results[2].Problems, func(p jobfile.Problem) bool { return errors.Is(p.Cause, down) }) {
		t.Error("the cause is lost")
	}
}

// TestCollections reads collections, and applies them before jobs.
func TestCollections(t *testing.T) {
	tree(t, map[string]string{
		"job.yaml":  "name: c/job",
		"c.json":    `{"TYPE": "microsoft.scheduler/jobcollections", "properties": {"tags": {"a": "${CARILLON_ECHO}"}}}`,
		"list.json": `{"value": [{"type": "Microsoft.Scheduler/jobCollections", "name": "d"}, {"type": "Microsoft.Scheduler/jobCollections/jobs", "name": "d/j"}]}`,
		"twice.yml": "type: Microsoft.Scheduler/jobCollections\nname: c\n",
		"bad.yml":   "type: Microsoft.Scheduler/jobCollections\nname: c/d\n",
	})
	reader := jobfile.Reader{Lookup: variables}
	jobs, problems := reader.Read([]string{"job.yaml", "c.json", "list.json", "twice.yml", "bad.yml"})
	lines := make([]string, 0, len(problems)+len(jobs))
	for _, p := range problems {
		lines = append(lines, p.String())
	}
	for _, r := range jobfile.Apply(t.Context(), jobs, func(_ context.Context, j jobfile.Job) (jobfile.Answer, error) {
		if j.Key.Collection == "d" && j.IsCollection() {
			return jobfile.Answer{}, errors.New("collection d: away")
		}
		return jobfile.Answer{Result: v1.Updated}, nil
	}) {
		lines = append(lines, r.Job.Name()+" "+string(r.Result)+" "+string(r.Job.Body))
		for _, p := range r.Problems {
			lines = append(lines, p.String())
		}
	}
	check(t, "results", lines,
		"twice.yml:2:7: name: collection c is defined in c.json already",
		`bad.yml:2:7: collection: "c/d" must not contain '/': letters, digits, - and _ are allowed`,
		`collection c updated {"TYPE":"microsoft.scheduler/jobcollections","properties":{"tags":{"a":"http://echo"}}}`,
		`collection d  {"type":"Microsoft.Scheduler/jobCollections","name":"d"}`,
		"list.json: collection d: away",
		`c/job updated {"name":"c/job"}`,
		`d/j updated {"type":"Microsoft.Scheduler/jobCollections/jobs","name":"d/j"}`)
}
