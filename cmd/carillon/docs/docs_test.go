package docs_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/cmd/carillon/docs"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestPages holds every page to its form.
func TestPages(t *testing.T) {
	form := regexp.MustCompile(`^# [A-Z].+\n\n[A-Z].+\.\n\n`)
	files := map[string]string{}
	for _, p := range docs.Pages() {
		if other, ok := files[p.Name]; ok {
			t.Errorf("%s and %s have the same name", p.File, other)
		}
		files[p.Name] = p.File
		if !form.MatchString(p.Text) {
			t.Errorf("%s: does not begin with a title and a line that says what it tells", p.Name)
		}
		if n := utf8.RuneCountInString(p.Summary); n > 95 {
			t.Errorf("%s: the summary has %d characters, more than a line of the list has room for", p.Name, n)
		}
		if !strings.HasSuffix(p.Text, "\n") || strings.HasSuffix(p.Text, "\n\n") {
			t.Errorf("%s: does not end with one line break", p.Name)
		}
		fence, row := false, ""
		for line := range strings.Lines(p.Text) {
			line = strings.TrimSuffix(line, "\n")
			fence = fence != strings.HasPrefix(line, "```")
			code := fence || strings.HasPrefix(line, "    ")
			if table := strings.HasPrefix(line, "|") && strings.HasPrefix(row, "|"); table && columns(line) != columns(row) {
				t.Errorf("%s: a row of a table is not aligned: %s", p.Name, line)
			}
			row = line
			if n := utf8.RuneCountInString(line); n > 120 && !code {
				t.Errorf("%s: a line has %d characters: %s", p.Name, n, line)
			}
		}
		if fence {
			t.Errorf("%s: a block of code does not end", p.Name)
		}
	}
}

// columns are where the columns of a row of a table begin and end, in characters.
func columns(row string) string {
	row = regexp.MustCompile(`\\\||`+"`[^`]*`").ReplaceAllStringFunc(row, func(s string) string { return strings.Repeat("x", utf8.RuneCountInString(s)) })
	return regexp.MustCompile(`[^|]`).ReplaceAllString(row, " ")
}

func TestFind(t *testing.T) {
	for name, want := range map[string]string{
		"jobs": "jobs", "JOBS": "jobs", "jobs.md": "jobs", "sched": "schedules", "conc": "concepts", "cli": "cli",
		"guides/backup": "backup", "guides/backup.md": "backup", "Reference/sched": "schedules",
	} {
		if p, err := docs.Find(name); err != nil || p.Name != want {
			t.Errorf("%s: got %q, %v, want %q", name, p.Name, err, want)
		}
	}
	for name, want := range map[string][]string{
		"shedule": {"schedules"}, "Guarantee5": {"guarantees"}, "natz": {"nats"},
		"se": {"secrets", "secure"}, "rec": {"recover", "records"}, "concepts/": {"concepts", "failure-modes", "guarantees"},
		"concepts/backup": {"backup"}, "reference/natz": {"nats"}, "xyzxyz": nil, "": nil,
	} {
		p, err := docs.Find(name)
		missing, ok := errors.AsType[*docs.MissingError](err)
		if !ok || !slices.Equal(missing.Near, want) {
			t.Errorf("%q: got %q, %v, want %q", name, p.Name, missing, want)
		}
	}
}

// TestImages holds the images that the pages name to the versions that docker-compose.yml and the Dockerfile have.
func TestImages(t *testing.T) {
	var pinned []byte
	for _, file := range []string{"docker-compose.yml", "cmd/carillon/Dockerfile"} {
		text := must.Get(os.ReadFile(filepath.Join("..", "..", "..", file)))(t)
		pinned = append(pinned, text...)
	}
	image := regexp.MustCompile(`\b(jaegertracing/jaeger|prom/prometheus|grafana/grafana|nats):v?\d[\w.-]*`)
	found := 0
	for _, page := range docs.Pages() {
		for _, name := range image.FindAllString(page.Text, -1) {
			found++
			if !strings.Contains(string(pinned), " "+name+"\n") {
				t.Errorf("%s: %s is not the image of docker-compose.yml", page.Name, name)
			}
		}
	}
	if found == 0 {
		t.Error("no page names an image")
	}
}

// TestImageTags refuses an image without a full version: what is started would differ from day to day.
func TestImageTags(t *testing.T) {
	full := regexp.MustCompile(`:v?\d+\.\d+\.\d+[\w.-]*(@sha256:[0-9a-f]{64})?$|:\d{4}-CU\d+-[\w.-]+$`)
	for name, want := range map[string]bool{
		"nats": false, "nats:latest": false, "nats:2": false, "nats:2.15-alpine": false, "nats:2.15.2-alpine": true,
		"registry.example:5000/nats": false, "prom/prometheus:v3.8.1": true,
	} {
		if full.MatchString(name) != want {
			t.Errorf("%s: its tag counts as full: %t", name, !want)
		}
	}
	named := regexp.MustCompile(`(?m)^\s*(?:- )?(?:image:|FROM(?: --\S+)*) +"?([^\s"]+)(?: +AS +(\S+))?`)
	root := filepath.Join("..", "..", "..")
	files, _ := filepath.Glob(filepath.Join(root, "examples", "kubernetes", "*.yaml"))
	files = append(files, filepath.Join(root, "docker-compose.yml"), filepath.Join(root, "cmd", "carillon", "Dockerfile"))
	found := 0
	for _, file := range files {
		text := must.Get(os.ReadFile(file))(t)
		stages := []string{"scratch"}
		for _, image := range named.FindAllStringSubmatch(string(text), -1) {
			found++
			if !slices.Contains(stages, image[1]) && !full.MatchString(image[1]) {
				t.Errorf("%s: image %s has no full version as its tag", file, image[1])
			}
			stages = append(stages, image[2])
		}
	}
	if found < 10 {
		t.Errorf("found %d images", found)
	}
}
