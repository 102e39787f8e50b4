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

	classifier "github.com/google/licenseclassifier/v2"
	"github.com/google/licenseclassifier/v2/assets"
)

// knownLicences tells licences by their texts. It is read once, which takes a second.
var knownLicences = sync.OnceValues(assets.DefaultClassifier)

// licences are the SPDX identifiers of the texts that a module comes with, sorted. A module that nobody knows the licence
// of ends a release: somebody has to look.
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
		return nil, fmt.Errorf("%s: nobody knows the licence", files[0])
	}
	return slices.Sorted(maps.Keys(ids)), nil
}

// isLicence tells the text of a licence from a mere mention of one.
func isLicence(m *classifier.Match) bool { return m.MatchType == "License" }

// licenceTexts are the licences and notices of everything in the program but Carillon itself, as these demand it of whoever
// passes a binary on.
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
