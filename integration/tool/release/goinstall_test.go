package main

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	mod "golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"
)

// kept is a file of the tree, as a module zip takes it.
type kept struct{ root, name string }

func (k kept) Path() string                 { return k.name }
func (k kept) Lstat() (fs.FileInfo, error)  { return os.Lstat(filepath.Join(k.root, k.name)) }
func (k kept) Open() (io.ReadCloser, error) { return os.Open(filepath.Join(k.root, k.name)) }

// proxyOf is a folder that the go command takes modules from: this one, in a version, and nothing else.
func proxyOf(t *testing.T, src source) string {
	t.Helper()
	nested := map[string]bool{}
	for _, name := range src.files {
		if dir, file := path.Split(name); file == "go.mod" && dir != "" {
			nested[dir] = true
		}
	}
	var files []modzip.File
	for _, name := range src.files {
		if _, err := os.Lstat(filepath.Join(src.root, name)); err == nil && !within(name, nested) {
			files = append(files, kept{src.root, name})
		}
	}
	var packed bytes.Buffer
	if err := modzip.Create(&packed, mod.Version{Path: module, Version: version}, files); err != nil {
		t.Fatal(err)
	}
	goMod, err := src.read("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	info, err := json.Marshal(map[string]any{"Version": version, "Time": time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	at := filepath.Join(dir, module, "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	_, err = writeAll(at, map[string][]byte{
		"list": []byte(version + "\n"), version + ".info": info, version + ".mod": goMod, version + ".zip": packed.Bytes(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func within(name string, dirs map[string]bool) bool {
	for dir := range dirs {
		if strings.HasPrefix(name, dir) {
			return true
		}
	}
	return false
}

// TestGoInstall installs the program as people do who have Go alone, of a module proxy that has the working tree. What a
// module that is installed so must not have, such as a replacement of another one, ends it.
func TestGoInstall(t *testing.T) {
	needsTime(t)
	src, err := findSource(t.Context(), ".", version)
	if err != nil {
		t.Fatal(err)
	}
	cache, err := output(t.Context(), ".", "go", "env", "GOMODCACHE")
	if err != nil {
		t.Fatal(err)
	}
	here := filepath.Join(strings.TrimSpace(cache), "cache", "download")
	bin := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "install", module+"/cmd/carillon@latest")
	cmd.Dir = bin
	// The modules that it requires come from the cache, where they have been checked.
	// A cache of its own, as this version is none that anybody has released; -trimpath makes what is compiled already of use,
	// and -modcacherw lets the cache be deleted.
	cmd.Env = append(environment(target{}), "GOOS=", "GOARCH=", "GOBIN="+bin, "GOMODCACHE="+t.TempDir(),
		"GOPROXY=file://"+proxyOf(t, src)+",file://"+here, "GOSUMDB=off", "GOFLAGS=-trimpath -modcacherw")
	if _, err := finish(cmd); err != nil {
		t.Fatal(err)
	}
	out, err := output(t.Context(), bin, filepath.Join(bin, "carillon"), "version", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var is struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal([]byte(out), &is); err != nil || is.Version != version {
		t.Errorf("the program says of itself %s, %v", out, err)
	}
}

// TestPage carries out what the guides to installing say, as far as that goes without changing this machine.
func TestPage(t *testing.T) {
	guides := os.DirFS("../../../cmd/carillon/docs/guides")
	page, err := fs.ReadFile(guides, "install.md")
	if err != nil {
		t.Fatal(err)
	}
	kubernetes, err := fs.ReadFile(guides, "kubernetes.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\ngo install " + module + "/cmd/carillon@latest\n",                 // as TestGoInstall
		"\ngo run -C integration/tool/release . -version " + version + "\n", // as TestReproducible
		"\napt-get install ./carillon_0.1.0_amd64.deb\n",                    // as TestDebianLife
		"\nkubectl apply --kustomize examples/kubernetes\n",                 // as TestKustomize
	} {
		if !bytes.Contains(page, []byte(want)) && !bytes.Contains(kubernetes, []byte(want)) {
			t.Errorf("neither page has %q", strings.TrimSpace(want))
		}
	}
	if here.String() != "linux/amd64" {
		t.Skip("the commands of the page are for linux/amd64")
	}
	dir := releaseDir(t)
	_, rest, _ := bytes.Cut(page, []byte("\n## From an archive\n"))
	_, rest, _ = bytes.Cut(rest, []byte("```sh\n"))
	commands, _, _ := bytes.Cut(rest, []byte("```"))
	work, bin := t.TempDir(), t.TempDir()
	if err := os.CopyFS(work, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	script := strings.ReplaceAll(string(commands), "/usr/local/bin", bin)
	if out, err := output(t.Context(), work, "sh", "-ec", script); err != nil || !strings.Contains(out, ".tar.gz: OK\n") {
		t.Fatalf("%s: %v\n%s", commands, err, out)
	}
	if _, err := output(t.Context(), work, filepath.Join(bin, "carillon"), "version"); err != nil {
		t.Error(err)
	}
}
