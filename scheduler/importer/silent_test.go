package importer_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/importer"
)

// meaningless are the members of the samples, by the source and the end of their path, that say nothing of when or how
// something runs, so that what they are is neither translated nor reported; and those of entries that failed as a whole.
var meaningless = map[string][]string{
	"k8s": {".apiVersion"},
	"arm": {
		".$schema", ".contentVersion", ".type", ".copy.name",
		".parameters.uri", ".resources.2.properties.action.request.method", ".resources.4.properties", ".resources.4.properties.action",
	},
	"eventbridge": {".Targets.0.Id", ".Rules.1.EventPattern", ".Rules.1.State", ".0.1.Name"},
	"awx":         {".id", ".count", ".previous"},
	"obsidian":    {".jobId", ".scheduleId", ".jobs.2.jobClass"},
}

// TestEachMemberCounts takes each member out of each sample, and gives it another value: jobs or report are other ones then,
// or the report names what it is in, unless it is one of those that mean nothing.
func TestEachMemberCounts(t *testing.T) {
	for _, format := range importer.Formats() {
		if format == "crontab" {
			continue // see TestEachLineCounts
		}
		data, err := os.ReadFile(filepath.Join("testdata", format+".in"))
		if err != nil {
			t.Fatal(err)
		}
		file, err := document.ParseFile(data)
		if err != nil {
			t.Fatal(err)
		}
		var documents []any
		for _, v := range file.Documents {
			var one any
			if err := json.Unmarshal(v.JSON(), &one); err != nil {
				t.Fatal(err)
			}
			if one != nil {
				documents = append(documents, one)
			}
		}
		whole, notes := made(t, format, documents)
		members, same := map[string]bool{}, map[string]int{}
		changeEach(documents, "", func(path string) {
			members[path] = true
			if text, _ := made(t, format, documents); text == whole && !isTold(notes, path) {
				same[path]++
			}
		})
		listed := map[string]bool{}
		for path, n := range same {
			at := slices.IndexFunc(meaningless[format], func(end string) bool { return strings.HasSuffix(path, end) })
			if n == 2 && at < 0 {
				t.Errorf("%s: %s is neither translated nor reported", format, path)
			} else if n == 2 {
				listed[meaningless[format][at]] = true
			}
		}
		if len(listed) != len(meaningless[format]) {
			t.Errorf("%s: of those that mean nothing, these do: only %v", format, listed)
		}
		if len(members) < 20 {
			t.Errorf("%s: looked at %d members only", format, len(members))
		}
	}
}

// TestEachLineCounts takes each line that is no comment out of the crontab.
func TestEachLineCounts(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "crontab.in"))
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Split(string(data), "\n")
	whole, _ := result(t, "crontab", data)
	for i, line := range all {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		without := slices.Clone(all)
		without[i] = "" // the others keep their numbers
		if text, _ := result(t, "crontab", []byte(strings.Join(without, "\n"))); text == whole {
			t.Errorf("line %d is neither translated nor reported: %s", i+1, line)
		}
	}
}

// changeEach calls f twice for each member of a value's objects: while it is out, and while it has another value.
func changeEach(v any, path string, f func(path string)) {
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			changeEach(item, fmt.Sprintf("%s.%d", path, i), f)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			member := v[name]
			delete(v, name)
			f(path + "." + name)
			v[name] = other(member)
			f(path + "." + name)
			v[name] = member
			changeEach(member, path+"."+name, f)
		}
	}
}

// other is a value that is not the given one.
func other(v any) any {
	switch v := v.(type) {
	case bool:
		return !v
	case float64:
		return v + 1
	case string:
		return v + "x"
	}
	return "x"
}

// isTold reports whether a note names what a member is in.
func isTold(notes []importer.Note, path string) bool {
	return slices.ContainsFunc(notes, func(n importer.Note) bool { return n.Field != "" && strings.Contains(path, "."+n.Field+".") })
}

// made is what is made of documents, as a text, and the report.
func made(t *testing.T, format string, documents []any) (text string, notes []importer.Note) {
	t.Helper()
	data, err := json.Marshal(documents)
	if err != nil {
		t.Fatal(err)
	}
	return result(t, format, data)
}

func result(t *testing.T, format string, data []byte) (text string, notes []importer.Note) {
	t.Helper()
	r, err := importer.Import(format, data, importer.Options{Runner: "https://runner.example/{name}", System: format == "crontab"})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, j := range r.Jobs {
		all = append(all, string(j.Document.JSON()))
	}
	return fmt.Sprint(all, r.Notes), r.Notes
}
