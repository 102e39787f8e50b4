package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	classifier "github.com/google/licenseclassifier/v2"
	"github.com/google/licenseclassifier/v2/assets"
)

// knownLicences recognizes licences by their texts. Loading it takes a second.
var knownLicences = sync.OnceValues(assets.DefaultClassifier)

// licences returns the sorted SPDX identifiers of a module's licence files. A module with an unknown licence
// aborts the release, so that a person reviews it.
func (m usedModule) licences() ([]string, error) {
	known, err := knownLicences()
	if err != nil {
		return nil, err
	}
	files, err := m.licenceFiles()
	if err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, match := range known.Match(text).Matches {
			if isLicence(match) {
				ids[match.Name] = true
			}
		}
	}
	if len(ids) == 0 {
		return nil, fmt.Errorf("%s: unknown licence", files[0])
	}
	return slices.Sorted(maps.Keys(ids)), nil
}

// isLicence distinguishes a licence text from a mention of one.
func isLicence(m *classifier.Match) bool { return m.MatchType == "License" }

// licenceTexts returns the licences and notices of all dependencies, which these require in a binary
// distribution.
func (b built) licenceTexts() ([]byte, error) {
	var all bytes.Buffer
	all.WriteString("carillon contains code of these modules, under these terms.\n")
	for _, path := range slices.Sorted(maps.Keys(b.modules)) {
		if path == module {
			continue
		}
		files, err := b.modules[path].licenceFiles()
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&all, "\n%s\n%s, %s\n\n", strings.Repeat("=", 80), path, filepath.Base(file))
			all.Write(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
		}
	}
	return all.Bytes(), nil
}

// manual returns the man page. Each line of commands is a command and its description, separated by a tab.
func manual(commands, version string, at time.Time) []byte {
	var page strings.Builder
	fmt.Fprintf(&page, ".TH CARILLON 1 %s \"carillon %s\"\n", at.Format(time.DateOnly), version)
	page.WriteString(`.SH NAME
carillon \- job scheduler on NATS JetStream
.SH SYNOPSIS
.B carillon
.I COMMAND
.RI [ FLAG \&...]
.SH DESCRIPTION
A job is a JSON or YAML document: when to run, what to call, how to retry.
Carillon makes the call on time, and records how it went.
.PP
.B carillon help
.I COMMAND
tells of the flags of a command and has examples, and
.B carillon docs
has the reference pages.
.SH COMMANDS
`)
	for line := range strings.Lines(commands) {
		name, help, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if ok && !strings.HasPrefix(name, "-") {
			fmt.Fprintf(&page, ".TP\n.B %s\n%s.\n", roff(name), roff(help))
		}
	}
	page.WriteString(`.SH EXIT STATUS
0 done, 1 refused or failed, 2 a wrong command line, 3 not found, 4 a conflict, 5 unavailable, 130 interrupted.
.SH FILES
.TP
.I ~/.config/carillon/config.yaml
The contexts of
.BR "carillon context" .
`)
	return []byte(page.String())
}

// roff escapes a line.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, `-`, `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
