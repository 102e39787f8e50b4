package chaos

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var fromFlag = flag.String("from", "", "git revision that TestRollingUpgrade begins with; default: the last one that is not what HEAD has")

// A revision is a commit of this repository.
type revision struct{ commit, tree string }

// earlier finds the revision that an upgrade begins with, and ends a test that cannot have it: one of a copy of the sources
// without their history.
func earlier(ctx context.Context, t *testing.T) revision {
	t.Helper()
	if *fromFlag != "" {
		return resolve(ctx, t, *fromFlag)
	}
	const remedy = "run it in a git clone with its history (git fetch --unshallow), or name a revision that is there with -from"
	head, err := git(ctx, "rev-parse", "HEAD^{tree}")
	if err != nil {
		t.Skipf("these sources are no git clone, so there is no earlier version of them to upgrade from; %s: %v", remedy, err)
	}
	const enough = 200 // commits; all but merges and the like change something
	lines, err := git(ctx, "log", fmt.Sprintf("-%d", enough), "--first-parent", "--format=%H %T")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(lines) {
		commit, tree, _ := strings.Cut(strings.TrimSpace(line), " ")
		if tree != head {
			return revision{commit, tree}
		}
	}
	t.Skipf("git has no earlier version of these sources, as in a shallow clone; %s", remedy)
	return revision{}
}

func resolve(ctx context.Context, t *testing.T, name string) revision {
	t.Helper()
	commit, err := git(ctx, "rev-parse", "--verify", name+"^{commit}")
	if err != nil {
		t.Fatalf("-from %s: %v", name, err)
	}
	tree, err := git(ctx, "rev-parse", commit+"^{tree}")
	if err != nil {
		t.Fatal(err)
	}
	return revision{commit, tree}
}

// git runs a command of git in this repository, and returns what it prints.
func git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = filepath.Join("..", "..")
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(string(exit.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}

// keepFor is how long the binaries of earlier revisions are kept.
const keepFor = 7 * 24 * time.Hour

// build returns the path of carillon as it was at the revision. It is built once, and kept in the user's cache directory.
func (r revision) build(ctx context.Context, t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	cache = filepath.Join(cache, "carillon", "revisions")
	path := filepath.Join(cache, r.tree)
	if os.Chtimes(path, time.Now(), time.Now()) == nil {
		return path
	}
	began := time.Now()
	dir, err := os.MkdirTemp("", "carillon-revision-")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := errors.Join(os.MkdirAll(cache, 0o700), forget(cache), r.buildIn(ctx, dir, path)); err != nil {
		t.Fatal(err)
	}
	t.Logf("built revision %s in %s", r.commit[:8], time.Since(began).Round(time.Second))
	return path
}

// buildIn builds in an empty directory, and puts the binary at path once it is whole.
func (r revision) buildIn(ctx context.Context, dir, path string) error {
	if _, err := git(ctx, "archive", "-o", filepath.Join(dir, "src.tar"), r.commit); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"tar", "-xf", "src.tar"}, {"go", "build", "-buildvcs=false", "-o", "carillon.new", "./cmd/carillon"},
	} {
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s of revision %s: %w\n%s", strings.Join(args[:2], " "), r.commit[:8], err, out)
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, "carillon.new"))
	if err != nil {
		return err
	}
	whole := fmt.Sprintf("%s.%d", path, os.Getpid())
	return errors.Join(os.WriteFile(whole, data, 0o700), os.Rename(whole, path))
}

// forget removes binaries that nobody has used for long.
func forget(cache string) error {
	entries, err := os.ReadDir(cache)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && time.Since(info.ModTime()) > keepFor {
			err = os.Remove(filepath.Join(cache, e.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // another test was quicker
			return err
		}
	}
	return nil
}
