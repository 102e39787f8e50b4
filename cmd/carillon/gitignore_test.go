package main

import (
	"io"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestDocumentedCommandsWriteIgnoredFiles looks for what the commands of the README, the pages and the help write in
// .gitignore: whoever tries them in a clone is not to commit a key.
func TestDocumentedCommandsWriteIgnoredFiles(t *testing.T) {
	var patterns []string
	for line := range strings.Lines(read(t, ".gitignore")) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			patterns = append(patterns, strings.Trim(line, "/"))
		}
	}
	written := map[string]bool{}
	texts := []string{"    carillon dev --data .carillon\n"} // the default
	for _, file := range documents() {
		texts = append(texts, read(t, file))
	}
	parser, _ := newParser(&terminal.Terminal{Out: io.Discard, Err: io.Discard})
	for _, command := range parser.Model.Leaves(true) {
		texts = append(texts, command.Detail)
	}
	command := regexp.MustCompile(`(?m)^[ (]*(?:umask 077; )?(?:go run \./cmd/)?carillon .*$`)
	output := regexp.MustCompile(`(?:>>? |--data |--ports-file |export .*-o )([\w./-]+)`)
	made := regexp.MustCompile(`carillon init ([a-z-]+) `)
	for _, text := range texts {
		for _, line := range command.FindAllString(text, -1) {
			for _, m := range output.FindAllStringSubmatch(line, -1) {
				written[m[1]] = true
			}
			if m := made.FindStringSubmatch(line); m != nil && text == read(t, "README.md") {
				written[m[1]+".yaml"] = true
			}
		}
	}
	for file := range written {
		ignored := path.IsAbs(file)
		for _, pattern := range patterns {
			hit := must.Get(path.Match(pattern, path.Base(file)))(t)
			ignored = ignored || hit
		}
		if !ignored {
			t.Errorf(".gitignore has no %s", file)
		}
	}
	if len(written) < 5 {
		t.Errorf("only these were found: %v", written)
	}
}
