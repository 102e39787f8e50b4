package main

import (
	"cmp"
	"runtime"
	"runtime/debug"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
)

// version is set by a release build: -ldflags "-X main.version=v1.2.3".
var version string

// build is what is known of this binary.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Time    string `json:"commitTime,omitempty"`
	Changed bool   `json:"changed,omitempty"` // built from files that differ from the commit
	Go      string `json:"go"`
	System  string `json:"system"`
}

func thisBuild() build {
	b := build{Version: version, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	info, _ := debug.ReadBuildInfo()
	info = cmp.Or(info, &debug.BuildInfo{}) // without module support there is none
	if info.Main.Version != "(devel)" {
		b.Version = cmp.Or(b.Version, info.Main.Version)
	}
	b.Version = cmp.Or(b.Version, "0.0.0-dev")
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Changed = s.Value == "true"
		}
	}
	return b
}

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run(t *terminal.Terminal) error {
	b := thisBuild()
	if t.JSON {
		return t.PrintJSON(b)
	}
	t.Printf("carillon %s, %s, %s\n", b.Version, b.Go, b.System)
	if b.Commit != "" {
		changed := ""
		if b.Changed {
			changed = ", with changes"
		}
		t.Printf("commit %s of %s%s\n", b.Commit, b.Time, changed)
	}
	return nil
}
