package main

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestContributingListsAllFiles compares each list of CONTRIBUTING with an existing example: a new place for the same fact
// has to be in the list.
func TestContributingListsAllFiles(t *testing.T) {
	text := read(t, ".github/CONTRIBUTING.md")
	for _, e := range []struct {
		list, pattern, folders string
		want                   string // the files that have the example
		others                 string // files that match and are no place for it: they write jobs, or have another field of the name
	}{
		{
			list: "Add an operation", pattern: `"why"|/why"|\) Why\(ctx`,
			folders: "scheduler/api scheduler/client scheduler/control scheduler/natsapi scheduler/rest",
			want:    "scheduler/api/dispatch/calls.go scheduler/api/table.go scheduler/client/why.go scheduler/control/why.go",
		},
		{
			list: "Add a job field", pattern: `"(job\.)?jitter"|\bd\.Jitter\b`, folders: "cmd scheduler",
			want: "cmd/carillon/jobs/describe.go scheduler/console/builder/form.go scheduler/console/job/definition.go " +
				"scheduler/definition.go scheduler/schema/describe.go",
			others: "scheduler/forecast/proposal.go scheduler/importer/crontab.go scheduler/importer/eventbridge.go scheduler/retry.go",
		},
		{
			list: "Add a record field", pattern: `"summary[",]|\.Summary\b`, folders: "scheduler/*.go scheduler/engine scheduler/explain scheduler/secrets store",
			want: "scheduler/action.go scheduler/batonstored.go scheduler/completion.go scheduler/engine/attempted.go " +
				"scheduler/record.go scheduler/recordform.go scheduler/recordstored.go scheduler/secrets/redactor.go scheduler/step.go",
		},
		{
			list: "Add an action type", pattern: `"natsMessage"|actions/natsmsg"`, folders: "actions cmd scheduler",
			want: "actions/builtin/builtin.go actions/natsmsg/client.go cmd/carillon/initfile/action.go cmd/carillon/initfile/command.go " +
				"scheduler/api/v1/request.go scheduler/console/edit/create.go scheduler/schema/describe.go",
			others: "actions/natsmsg/doc.go",
		},
		{
			list: "Add a command", pattern: `\bTry +jobs\.Try\b|\btype Try `, folders: "cmd",
			want: "cmd/carillon/cli.go cmd/carillon/jobs/try.go",
		},
		{
			list: "Add a console page", pattern: `load\.Sections|\bload\.menu|func Sections\(`, folders: "cmd scheduler/console",
			want: "scheduler/console/console.go scheduler/console/load/load.go scheduler/console/words/en/load.txt",
		},
	} {
		var found []string
		pattern := regexp.MustCompile(e.pattern)
		for folder := range strings.FieldsSeq(e.folders) {
			found = append(found, matching(t, folder, pattern)...)
		}
		want := append(strings.Fields(e.want), strings.Fields(e.others)...)
		slices.Sort(want)
		slices.Sort(found)
		if diff := cmp.Diff(want, found); diff != "" {
			t.Errorf("%s (-expected +found): a place for every change of this kind goes into the list of CONTRIBUTING and into want, "+
				"any other into others\n%s", e.list, diff)
		}
		_, list, _ := strings.Cut(text, "\n## "+e.list+"\n")
		list, _, _ = strings.Cut(list, "\n## ")
		for file := range strings.FieldsSeq(e.want) {
			folder, name := filepath.Split(file)
			if !strings.Contains(list, "`"+folder) && !strings.Contains(list, "`"+filepath.Dir(filepath.Clean(folder))+"/NAME") ||
				!strings.Contains(list, name) && !strings.Contains(list, "NAME") && !strings.Contains(list, "`"+folder+"`") {
				t.Errorf("%s: the list of CONTRIBUTING does not name %s: add it, or remove it from want", e.list, file)
			}
		}
	}
}

// matching returns the sources below a folder, or the files of a pattern, that have the pattern. Tests are no sources.
func matching(t *testing.T, folder string, pattern *regexp.Regexp) (found []string) {
	t.Helper()
	tops, err := filepath.Glob(filepath.Join(root, folder))
	if err != nil || len(tops) == 0 {
		t.Fatalf("%s: %v", folder, err)
	}
	for _, top := range tops {
		must.Do(t, filepath.WalkDir(top, func(path string, _ fs.DirEntry, err error) error {
			file, _ := filepath.Rel(root, path)
			source := strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") || strings.Contains(path, "/words/en/")
			if err == nil && source && filepath.Ext(path) != "" && pattern.MatchString(read(t, file)) {
				found = append(found, file)
			}
			return err
		}))
	}
	return found
}
