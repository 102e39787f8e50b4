package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// module is what is released.
const module = "github.com/carillon-sched/carillon"

// source is the tree that a release is made of.
type source struct {
	root    string    // its top
	version string    // with v
	commit  string    // its hash
	time    time.Time // of the commit, and of everything that is made of it
	changed bool      // files differ from the commit
	files   []string  // that git keeps, below root
}

// number is the version without its v.
func (s source) number() string { return strings.TrimPrefix(s.version, "v") }

// findSource looks at the repository around a folder.
func findSource(ctx context.Context, dir, version string) (source, error) {
	s := source{version: version}
	top, err := output(ctx, dir, "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return s, fmt.Errorf("a release is made in a clone: %w", err)
	}
	s.root = strings.TrimSpace(top)
	last, err := output(ctx, s.root, "git", "log", "-1", "--format=%H %cI")
	if err != nil {
		return s, err
	}
	commit, at, _ := strings.Cut(strings.TrimSpace(last), " ")
	s.commit = commit
	if s.time, err = time.Parse(time.RFC3339, at); err != nil {
		return s, err
	}
	s.time = s.time.UTC()
	status, err := output(ctx, s.root, "git", "status", "--porcelain")
	if err != nil {
		return s, err
	}
	s.changed = status != ""
	list, err := output(ctx, s.root, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	s.files = strings.FieldsFunc(list, func(r rune) bool { return r == 0 })
	return s, err
}

// read returns a file of the tree.
func (s source) read(name string) ([]byte, error) { return os.ReadFile(filepath.Join(s.root, name)) }

// output runs a command and returns what it prints; when it fails, the error has what it says.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // they are written in this package
	cmd.Dir = dir
	return finish(cmd)
}

func finish(cmd *exec.Cmd) (string, error) {
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(cmd.Args[:min(2, len(cmd.Args))], " "), err)
	}
	return string(out), nil
}
