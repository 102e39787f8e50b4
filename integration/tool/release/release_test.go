package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// fresh has the second build compile everything again, which takes minutes.
var fresh = flag.Bool("fresh", false, "build the second time without what the first one has compiled")

const version = "v0.1.0"

// here is the target that every machine can run.
var here = target{runtime.GOOS, runtime.GOARCH}

// made is a release for this machine, made once for all tests, of a copy of the working tree.
var made = sync.OnceValues(func() (string, error) {
	base, err := os.MkdirTemp("", "carillon-release-test-")
	if err != nil {
		return "", err
	}
	return base, makeOne(".", filepath.Join(base, "tree"), filepath.Join(base, "out"))
})

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if base, _ := made(); base != "" && !testing.Short() {
		_ = os.RemoveAll(base)
	}
	os.Exit(code)
}

// releaseDir is where the files of the release are.
func releaseDir(t *testing.T) string {
	t.Helper()
	needsTime(t)
	base, err := made()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(base, "out")
}

// needsTime leaves out what builds the program.
func needsTime(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the program: run it without -short")
	}
}

// makeOne copies a tree to a repository with one commit, the same one wherever that is, and makes a release of it.
func makeOne(from, tree, out string) error {
	ctx := context.Background()
	if err := copyTree(ctx, from, tree); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "--quiet"},
		{"add", "--all", "--force"},
		{"-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false", "commit", "--quiet", "--message", "release"},
	} {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir = tree
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE=2026-01-02T03:04:06Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:06Z")
		if _, err := finish(cmd); err != nil {
			return err
		}
	}
	return run(ctx, options{dir: tree, version: version, out: out, targets: here.String()}, io.Discard)
}

// copyTree copies the files that git keeps, or would.
func copyTree(ctx context.Context, of, to string) error {
	from, err := findSource(ctx, of, version)
	if err != nil {
		return err
	}
	for _, name := range from.files {
		data, err := from.read(name)
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted, and not committed
		}
		if err != nil {
			return err
		}
		path := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// TestReproducible makes the release again, in another place and at another time.
func TestReproducible(t *testing.T) {
	dir := releaseDir(t)
	if *fresh {
		t.Setenv("GOCACHE", t.TempDir())
	}
	t.Setenv("TZ", "Asia/Tokyo")
	t.Setenv("GOAMD64", "v3")
	t.Setenv("GOFLAGS", "-ldflags=-w")
	tree := filepath.Join(filepath.Dir(dir), "tree") // as the first time, also when somebody edits the working tree meanwhile
	again := filepath.Join(t.TempDir(), "elsewhere", "out")
	if err := makeOne(tree, filepath.Join(t.TempDir(), "a tree"), again); err != nil {
		t.Fatal(err)
	}
	first, second := readAll(t, dir), readAll(t, again)
	if len(first) < 3 || len(first) != len(second) {
		t.Errorf("%d files and then %d", len(first), len(second))
	}
	for name := range first {
		if !bytes.Equal(first[name], second[name]) {
			t.Errorf("%s is another one the second time", name)
		}
	}
}

// readAll returns the files of a folder by name.
func readAll(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, entry := range entries {
		if files[entry.Name()], err = os.ReadFile(filepath.Join(dir, entry.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// unpacked is the folder of the archive of this machine, unpacked.
func unpacked(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	name := strings.Join([]string{"carillon", "0.1.0", here.os, here.arch}, "_")
	if here.os == "windows" {
		t.Skip("the archive for Windows is no tar: TestZip has another one")
	}
	archive := filepath.Join(releaseDir(t), name+".tar.gz")
	if _, err := output(t.Context(), dir, "tar", "-xzf", archive); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

// TestArchive unpacks the archive, and runs the program.
func TestArchive(t *testing.T) {
	dir := unpacked(t)
	out, err := output(t.Context(), dir, filepath.Join(dir, "carillon"), "version", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var is struct {
		Version string `json:"version"`
		Commit  string `json:"commit"`
		Time    string `json:"commitTime"`
		Changed bool   `json:"changed"`
		Go      string `json:"go"`
		System  string `json:"system"`
	}
	if err := json.Unmarshal([]byte(out), &is); err != nil {
		t.Fatal(err)
	}
	if is.Version != version || len(is.Commit) != 40 || is.Time != "2026-01-02T03:04:06Z" || is.Changed ||
		is.Go != runtime.Version() || is.System != here.String() {
		t.Errorf("the program says of itself %s", out)
	}
	for name, want := range map[string]string{
		"README.md":              "](https://github.com/carillon-sched/carillon/blob/v0.1.0/cmd/carillon/docs/reference/jobs.md)",
		"LICENSE":                "Apache License",
		"LICENSES.txt":           "github.com/nats-io/nats.go, LICENSE",
		"completions/_carillon":  "#compdef carillon",
		"man/carillon.1":         ".B serve\n",
		"examples/jobs":          "",
		"examples/compose":       "",
		"examples/kubernetes":    "",
		"examples/serve":         "",
		"examples/systemd":       "",
		"examples/observability": "",
	} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if want == "" {
			_, err = os.ReadDir(filepath.Join(dir, name))
		}
		if err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s has no %q: %v", name, want, err)
		}
	}
}

// TestSums has sha256sum check the files of the release.
func TestSums(t *testing.T) {
	dir := releaseDir(t)
	command := []string{"sha256sum", "--check", "--strict", sums}
	if runtime.GOOS == "darwin" {
		command = []string{"shasum", "--algorithm", "256", "--check", "--strict", sums}
	}
	out, err := output(t.Context(), dir, command[0], command[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Count(out, ": OK\n"), len(readAll(t, dir))-1; got != want {
		t.Errorf("%d files are in order, want %d:\n%s", got, want, out)
	}
}

// TestZip reads back what Windows gets.
func TestZip(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC)
	files := map[string]file{"b/program": {[]byte("program"), 0o755}, "a": {[]byte("a"), 0o644}}
	packed, err := zipped("top", files, at)
	if err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range r.File {
		names = append(names, f.Name)
		if !f.Modified.Equal(at) {
			t.Errorf("%s is of %s", f.Name, f.Modified)
		}
	}
	if want := []string{"top/a", "top/b/program"}; !slices.Equal(names, want) {
		t.Errorf("it has %q, want %q", names, want)
	}
}

// TestTar reads back the times, owners and modes.
func TestTar(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC)
	packed, err := tarred("top", map[string]file{"program": {[]byte("program"), 0o755}}, at)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	h, err := tar.NewReader(z).Next()
	if err != nil {
		t.Fatal(err)
	}
	if h.Name != "top/program" || h.Mode != 0o755 || h.Uid != 0 || !h.ModTime.Equal(at) || !z.ModTime.IsZero() {
		t.Errorf("got %+v, compressed at %s", h, z.ModTime)
	}
}

// TestRefused names what a release is not made of.
func TestRefused(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "thesis.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	good := options{dir: ".", version: version, out: full, targets: "linux/amd64", dirty: true}
	for want, change := range map[string]func(*options){
		"is no version":       func(o *options) { o.version = "1.0" },
		`"plan9/386" is none`: func(o *options) { o.targets = "plan9/386" },
		"has thesis.txt":      func(*options) {},
		"made in a clone":     func(o *options) { o.dir = full },
	} {
		o := good
		change(&o)
		if err := run(t.Context(), o, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
}
