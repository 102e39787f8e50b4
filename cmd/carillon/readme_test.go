package main

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/cmd/carillon/docs"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// root is where the README is.
const root = "../.."

func readme(t *testing.T) string { return read(t, "README.md") }

// read returns a file below root.
func read(t *testing.T, file string) string {
	t.Helper()
	data := must.Get(os.ReadFile(filepath.Join(root, file)))(t)
	return string(data)
}

// tourFile is the tour through the examples, below root.
const tourFile = "examples/README.md"

// documents are the files that people read, below root.
func documents() []string {
	files := []string{"README.md", ".github/CONTRIBUTING.md", ".github/BENCHMARKS.md", ".github/TESTING.md", ".github/SECURITY.md", tourFile}
	for _, p := range docs.Pages() {
		files = append(files, pageFolder+p.File)
	}
	return files
}

// pageFolder is the folder of the pages, below root.
const pageFolder = "cmd/carillon/docs/"

// pageFile is the file of a page of `carillon docs`, below root.
func pageFile(name string) string {
	page, err := docs.Find(name)
	if err != nil {
		panic(err)
	}
	return pageFolder + page.File
}

// blocks returns the fenced blocks of a language.
func blocks(text, language string) []string {
	var found []string
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	return found
}

// TestReadmeIsShort keeps the README to two pages, with the product on the first screen.
func TestReadmeIsShort(t *testing.T) {
	lines := strings.Split(readme(t), "\n")
	if len(lines) > 140 {
		t.Errorf("it has %d lines; what is over 140 belongs into a page of cmd/carillon/docs", len(lines))
	}
	if first := strings.Join(lines[:17], "\n"); !strings.Contains(first, "$ go run ./cmd/carillon dev examples/jobs") {
		t.Error("the first 17 lines do not show the product")
	}
}

// TestContributingNamesFiles looks for the files and folders that the lists of CONTRIBUTING send to.
func TestContributingNamesFiles(t *testing.T) {
	paths := regexp.MustCompile("`((?:actions|cmd|integration|scheduler|store)/[^` ]*)`").FindAllStringSubmatch(read(t, ".github/CONTRIBUTING.md"), -1)
	for _, m := range paths {
		path, _, _ := strings.Cut(m[1], "NAME")
		if _, err := os.Stat(filepath.Join("..", "..", path)); err != nil {
			t.Errorf("%s: %v", m[1], err)
		}
	}
	if len(paths) < 20 {
		t.Errorf("only %d paths are found", len(paths))
	}
}

// TestReadmeCommands parses every command line of the README and of all pages.
func TestReadmeCommands(t *testing.T) {
	command := regexp.MustCompile(`(?m)^(?: {4}\$ )?\(?(?:umask 077; )?(?:go run \./cmd/)?carillon (.*)$`)
	parser, _ := newParser(&terminal.Terminal{Out: io.Discard, Err: io.Discard})
	count := 0
	for _, file := range documents() {
		text := read(t, file)
		top, _, _ := strings.Cut(text, "\n## ")
		for _, block := range append(blocks(text, "sh"), top) {
			for _, m := range command.FindAllStringSubmatch(block, -1) {
				line, _, _ := strings.Cut(m[1], " # ")
				line, _, _ = strings.Cut(line, " > ")
				if _, err := parser.Parse(split(line)); err != nil {
					t.Errorf("%s: carillon %s: %v", file, line, err)
				}
				count++
			}
		}
	}
	if count < 20 {
		t.Errorf("only %d commands were found", count)
	}
}

// TestConsoleCommands parses the commands that pages of the console name.
func TestConsoleCommands(t *testing.T) {
	var files []string
	for _, pattern := range []string{"words/en/*.txt", "*/*.html", "*/templates/*.html"} {
		found := must.Get(filepath.Glob(filepath.Join(root, "scheduler", "console", pattern)))(t)
		files = append(files, found...)
	}
	command := regexp.MustCompile(`carillon ([a-z]+(?: (?:--?[a-zA-Z][a-z-]*|%s/%s|[A-Z]+|[a-z]+/[a-zA-Z]+|[a-z]+(?:["<&]|$)))*)`)
	parser, _ := newParser(&terminal.Terminal{Out: io.Discard, Err: io.Discard})
	count := 0
	for _, file := range files {
		text := must.Get(os.ReadFile(file))(t)
		for _, m := range command.FindAllStringSubmatch(string(text), -1) {
			count++
			_, err := parser.Parse(split(strings.TrimRight(m[1], `"<&`)))
			if err != nil && strings.Contains(err.Error(), "unknown") {
				t.Errorf("%s: carillon %s: %v", filepath.Base(file), m[1], err)
			}
		}
	}
	if count < 15 {
		t.Errorf("only %d commands were found", count)
	}
}

// TestCommandHelp parses the examples in the help of every command, and looks for its row in the page of the commands.
func TestCommandHelp(t *testing.T) {
	page := read(t, pageFile("cli"))
	parser, _ := newParser(&terminal.Terminal{Out: io.Discard, Err: io.Discard})
	example := regexp.MustCompile(`(?m)^ {4}carillon (.*?)(?: {3,}.*| \|.*| >.*)?$`)
	for _, command := range parser.Model.Leaves(true) {
		if !strings.Contains(page, "\n| `"+strings.TrimPrefix(commandPath(command), "carillon ")) {
			t.Errorf("%s: has no row in %s", command.FullPath(), pageFile("cli"))
		}
		examples := example.FindAllStringSubmatch(command.Detail, -1)
		if len(examples) == 0 && command.Name != "version" {
			t.Errorf("%s: has no examples in its help", command.FullPath())
		}
		for _, m := range examples {
			if _, err := parser.Parse(split(m[1])); err != nil && !strings.Contains(err.Error(), "no such file") {
				t.Errorf("%s: carillon %s: %v", command.FullPath(), m[1], err)
			}
		}
	}
}

// split splits a command line as a shell does, as far as the README and the help go.
func split(line string) []string {
	list := regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`).FindAllString(line, -1)
	for i, word := range list {
		list[i] = strings.Trim(word, `'"`)
	}
	return list
}

// TestReadmeSchedules reads the example of every schedule language.
func TestReadmeSchedules(t *testing.T) {
	examples := regexp.MustCompile("(?m)^ {4}({.*})$").FindAllStringSubmatch(read(t, pageFile("schedules")), -1)
	if len(examples) != 9 {
		t.Errorf("%d examples were found, want 9", len(examples))
	}
	drifts := 0
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
		plan, err := spec.NewPlan(timing, time.Now())
		if err != nil {
			t.Errorf("%s: %v", m[1], err)
			continue
		}
		if plan.Moves() && timing.Recurrence.Rule == nil { // a run that begins ten minutes late moves all that follow
			drifts++
			first, _ := plan.First()
			late := first.Add(10 * time.Minute)
			base, _ := plan.Base(first, late, false)
			if next, ok := plan.Moved(base).Next(first); !ok || !next.Equal(late.Add(6*time.Hour)) {
				t.Errorf("%s: after a run at %v, not due at %v, comes %v", m[1], late, first, next)
			}
		}
	}
	if drifts != 1 {
		t.Errorf("%d examples are counted from the last execution, want 1", drifts)
	}
}

// TestReadmeJob compares the job that the README shows with the file that it
// says to show.
func TestReadmeJob(t *testing.T) {
	shown := must.Get(document.Parse([]byte(blocks(readme(t), "yaml")[0])))(t)
	data := must.Get(os.ReadFile(filepath.Join(root, "examples", "jobs", "every-five-seconds.yaml")))(t)
	file := must.Get(document.Parse(data))(t)
	if diff := cmp.Diff(file.String(), shown.String()); diff != "" {
		t.Errorf("(-file +README):\n%s", diff)
	}
}

// TestReadmeLinks follows every relative link of the README, the pages and the contributors' page, to the file and to the
// heading in it, and looks for a link to every page in the README.
func TestReadmeLinks(t *testing.T) {
	inline := regexp.MustCompile(`\]\(([^) ]+)\)`)
	defined := regexp.MustCompile(`(?m)^\[([^\]]+)\]: (\S+)$`)
	linked := map[string]bool{}
	for _, file := range documents() {
		text := read(t, file)
		var targets []string
		for _, m := range inline.FindAllStringSubmatch(text, -1) {
			targets = append(targets, m[1])
		}
		for _, m := range defined.FindAllStringSubmatch(text, -1) {
			targets = append(targets, m[2])
			if strings.Count(text, "["+m[1]+"]") < 2 {
				t.Errorf("%s: the link [%s] is defined and not used", file, m[1])
			}
		}
		for _, target := range targets {
			if strings.Contains(target, "://") {
				continue
			}
			name, heading, _ := strings.Cut(target, "#")
			to := file
			if name != "" {
				to = path.Join(path.Dir(file), name)
			}
			if _, err := os.Stat(filepath.Join(root, to)); err != nil {
				t.Errorf("%s: %v", file, err)
			} else if heading != "" && !slices.Contains(headings(read(t, to)), heading) {
				t.Errorf("%s: %s has no heading #%s", file, to, heading)
			}
			if file == "README.md" {
				linked[to] = true
			}
		}
	}
	for _, file := range documents()[1:] {
		if !linked[file] {
			t.Errorf("README.md does not link %s", file)
		}
	}
}

// headings returns the headings of a text as links name them.
func headings(text string) []string {
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		name := regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		names = append(names, strings.ReplaceAll(name, " ", "-"))
	}
	return names
}

// TestReadmeReferences looks for the definition of every link in the pages that is named in brackets alone.
func TestReadmeReferences(t *testing.T) {
	named := regexp.MustCompile(`(?:^|[ (])\[([^\]|]+)\](?:[ ,;.)]|$)`)
	for _, p := range docs.Pages() {
		prose := regexp.MustCompile("(?s)```.*?```").ReplaceAllString(p.Text, "")
		prose = regexp.MustCompile("`[^`]*`").ReplaceAllString(prose, "")
		for line := range strings.Lines(prose) {
			for _, m := range named.FindAllStringSubmatch(strings.TrimRight(line, "\n"), -1) {
				if !strings.HasPrefix(line, "    ") && !strings.Contains(p.Text, "\n["+m[1]+"]: ") {
					t.Errorf("%s: the link [%s] leads nowhere", p.Name, m[1])
				}
			}
		}
	}
}
