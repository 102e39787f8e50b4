package words

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// used is how templates and code name a text.
var used = regexp.MustCompile(`(?:\bsay|\bcount|\.Text\(|\.Time\(|words\.Say\(|words\.Count\() ?"([a-z][a-zA-Z0-9.-]+)"`)

// TestTexts finds texts that are named and missing, and those that nobody names. A key that is put together has its beginning
// in quotes, with the dot or hyphen at its end: (printf "jobs.do.%s" …), "jobs.do." + verb.
func TestTexts(t *testing.T) {
	named, begun := map[string]string{}, []string{}
	labels := regexp.MustCompile(`Label: "([a-z][a-zA-Z0-9.-]+)"`) // of a row in a table of fields; its choices and hint have keys below it
	begins := regexp.MustCompile(`"([a-z]+(?:\.[a-zA-Z0-9-]+)*[.-])(?:%s)?"`)
	read := func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") || filepath.Ext(path) != ".go" && filepath.Ext(path) != ".html" {
			return err
		}
		data, err := os.ReadFile(path)
		for _, m := range used.FindAllStringSubmatch(string(data), -1) {
			if !strings.HasSuffix(m[1], ".") {
				named[m[1]] = path
			}
		}
		for _, m := range labels.FindAllStringSubmatch(string(data), -1) {
			named[m[1]], begun = path, append(begun, m[1]+".")
		}
		for _, m := range begins.FindAllStringSubmatch(string(data), -1) {
			begun = append(begun, m[1])
		}
		return err
	}
	for _, root := range []string{"..", "../../../integration/emulator/queues"} {
		must.Do(t, filepath.WalkDir(root, read))
	}
	for key, path := range named {
		if !Has(key) {
			t.Errorf("%s: there is no text %s", path, key)
		}
	}
	for key := range Keys() {
		if strings.HasSuffix(key, ".menu") || key == dateNames || named[key] != "" {
			continue
		}
		found := false
		for _, b := range begun {
			found = found || strings.HasPrefix(key, b)
		}
		if !found {
			t.Errorf("nobody says %s", key)
		}
	}
}

// TestLanguages compares the texts of each language with the English ones: their keys, verbs, and forms for one and many.
func TestLanguages(t *testing.T) {
	verb, checked := regexp.MustCompile(`%[-+#\d.\[\]]*[a-z%]|\|`), 0
	for _, language := range Languages() {
		all := texts
		if language != English {
			all = read(language + ".txt")
			checked++
		}
		for key, english := range texts {
			if got, want := verb.FindAllString(all[key], -1), verb.FindAllString(english, -1); all[key] == "" || !slices.Equal(got, want) {
				t.Errorf("%s, %s: %q; in English %q", language, key, all[key], english)
			}
		}
		for key := range all {
			if !Has(key) {
				t.Errorf("%s: there is no English text %s", language, key)
			}
		}
		if got := len(strings.Fields(all[dateNames])); got != 2*(12+7) {
			t.Errorf("%s: %d names of months and weekdays", language, got)
		}
	}
	if checked == 0 {
		t.Error("there is no second language")
	}
}

// TestUse has German dates and texts, and returns to English.
func TestUse(t *testing.T) {
	english, none := texts, names
	defer func() { texts, names = english, none }()
	march := time.Date(2026, time.March, 3, 9, 5, 0, 0, time.UTC)
	say := func() string {
		return Text("common.now") + ", " + Date(march, Text("date.weekday")) + ", " + Date(march, "Mon 2006-01-02") + ", " + Date(march, "2 Jan")
	}
	if got, want := say(), "now, Tuesday, 3 March 2026, Tue 2026-03-03, 3 Mar"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	Use("de")
	if got, want := say(), "jetzt, Dienstag, 3. März 2026, Di 2026-03-03, 3 Mär"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestCount has one thing and several.
func TestCount(t *testing.T) {
	texts["test.things"] = "one thing|%d things"
	defer delete(texts, "test.things")
	for n, want := range map[any]string{0: "0 things", 1: "one thing", uint64(2): "2 things", 12345: "12\u202f345 things"} {
		if got := Count("test.things", n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
