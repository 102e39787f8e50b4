package tz

import (
	"archive/zip"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

var update = flag.Bool("update", false, "write zones.txt")

// TestZoneNamesAreThoseOfGo compares the list with the database that the toolchain has, if it has it as a file. With
// -update it writes the list.
func TestZoneNamesAreThoseOfGo(t *testing.T) {
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output() // what is built with -trimpath does not know it
	if err != nil {
		t.Skipf("needs the go command: %v", err)
	}
	archive, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		t.Skipf("needs a Go installation with its time zones in GOROOT/lib/time: %v", err)
	}
	t.Cleanup(func() { _ = archive.Close() })
	var names []string
	for _, file := range archive.File {
		if !strings.HasSuffix(file.Name, "/") && file.Name != "Factory" {
			names = append(names, file.Name)
		}
	}
	slices.Sort(names)
	if *update {
		must.Do(t, os.WriteFile("zones.txt", []byte(strings.Join(names, "\n")+"\n"), 0o644))
		return
	}
	if !slices.Equal(names, Names()) {
		t.Error("zones.txt is not that of this toolchain: go generate")
	}
}

func TestZoneNames(t *testing.T) {
	names := Names()
	if !slices.IsSorted(names) || len(slices.Compact(names)) != len(Names()) || len(names) < 500 {
		t.Fatalf("%d names, not in order or with duplicates", len(names))
	}
	for _, name := range names {
		loc, err := Load(name)
		if err != nil || loc.String() != name {
			t.Errorf("%s: %v, %v", name, loc, err)
		}
	}
	names[0] = "changed"
	if Names()[0] == "changed" {
		t.Error("the list can be changed")
	}
}

func TestSuggestZone(t *testing.T) {
	for name, want := range map[string]string{
		"america/new_york":                     "America/New_York",
		"America/New York":                     "America/New_York",
		"US-Eastern":                           "US/Eastern",
		"New_York":                             "America/New_York",
		"kolkata":                              "Asia/Kolkata",
		"Europe/Lodnon":                        "Europe/London",
		"Amerika/Chicago":                      "America/Chicago",
		"Berlin":                               "Europe/Berlin",
		"utc":                                  "UTC",
		"ut+1":                                 "UT+1",
		"PST":                                  "America/Los_Angeles",
		"IST":                                  "Asia/Kolkata",
		"Eastern Standard Time":                "America/New_York",
		"W. Europe Standard Time":              "Europe/Berlin",
		"Central Standard Time (Mexico)":       "America/Mexico_City",
		"ART":                                  "Africa/Cairo",
		"bst":                                  "Asia/Dhaka",
		"jst":                                  "Asia/Tokyo",
		"/citadel.org/20210210_1/Europe/Paris": "Europe/Paris",
		"Mars/Olympus":                         "",
		"":                                     "",
		"x":                                    "",
		strings.Repeat("a", 5000):              "",
	} {
		if got := Suggest(name); got != want {
			t.Errorf("suggestZone(%q) = %q, want %q", name, got, want)
		}
	}
	for slang, name := range zonesBySlang() {
		if _, err := time.LoadLocation(name); err != nil {
			t.Error(err)
		}
		if slices.ContainsFunc(Names(), func(name string) bool { return foldZone(name) == slang }) {
			t.Errorf("%q is a zone", slang)
		}
	}
}
