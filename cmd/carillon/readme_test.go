package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// root is where the README is.
const root = "../.."

func readme(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// blocks returns the fenced blocks of a language.
func blocks(text, language string) []string {
	var found []string
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	return found
}

// TestReadmeCommands parses every command line of the README.
func TestReadmeCommands(t *testing.T) {
	text := readme(t)
	command := regexp.MustCompile(`(?m)^(?: {4}\$ )?(?:go run \./cmd/)?carillon (.*)$`)
	count := 0
	top, _, _ := strings.Cut(text, "\n## ")
	for _, block := range append(blocks(text, "sh"), top) {
		for _, m := range command.FindAllStringSubmatch(block, -1) {
			line, _, _ := strings.Cut(m[1], " # ")
			line, _, _ = strings.Cut(line, " > ")
			parser, _ := newParser(&terminal{out: io.Discard, err: io.Discard})
			if _, err := parser.Parse(words(line)); err != nil {
				t.Errorf("carillon %s: %v", line, err)
			}
			count++
		}
	}
	if count < 5 {
		t.Errorf("only %d commands were found", count)
	}
}

// words splits a command line as a shell does, as far as the README goes.
func words(line string) []string {
	var list []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			list = append(list, part)
			continue
		}
		list = append(list, strings.Fields(part)...)
	}
	return list
}

// TestReadmeSchedules reads the example of every schedule language.
func TestReadmeSchedules(t *testing.T) {
	_, section, _ := strings.Cut(readme(t), "\n## Schedules\n")
	examples := regexp.MustCompile("(?m) `({.*})` \\|$").FindAllStringSubmatch(section, -1)
	if len(examples) != 7 {
		t.Errorf("%d examples were found, want 7", len(examples))
	}
	for _, m := range examples {
		v, err := document.Parse([]byte(`{"recurrence": ` + m[1] + `}`))
		if err != nil {
			t.Errorf("%s: %v", m[1], err)
			continue
		}
		r := document.NewReader()
		timing := spec.ReadTiming(r.Object(v, ""))
		if err := r.Err(); err != nil {
			t.Errorf("%s: %v", m[1], err)
			continue
		}
		if _, err := spec.NewPlan(timing, time.Now()); err != nil {
			t.Errorf("%s: %v", m[1], err)
		}
	}
}

// TestReadmeJob compares the job that the README shows with the file that it
// says to show.
func TestReadmeJob(t *testing.T) {
	shown, err := document.Parse([]byte(blocks(readme(t), "yaml")[0]))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(root, "examples", "jobs", "every-five-seconds.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := document.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(file.String(), shown.String()); diff != "" {
		t.Errorf("(-file +README):\n%s", diff)
	}
}

// TestReadmeLinks looks for the files that the README points to.
func TestReadmeLinks(t *testing.T) {
	for _, m := range regexp.MustCompile(`\]\(([^)#]+)\)`).FindAllStringSubmatch(readme(t), -1) {
		if strings.Contains(m[1], "://") {
			continue
		}
		if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
			t.Error(err)
		}
	}
}
