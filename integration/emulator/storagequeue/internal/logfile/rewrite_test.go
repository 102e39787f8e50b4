package logfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// names are the files of a folder.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func TestRewrite(t *testing.T) {
	dir := t.TempDir()
	f, _ := open(t, dir)
	put(t, f, "old 1", "old 2")
	before := f.Append([]byte("old 3")) // not written yet when the rewrite begins
	w := f.Rewrite()
	if f.Rewrite() != nil {
		t.Error("there are two rewrites at a time")
	}
	put(t, f, "meanwhile 1")
	w.Write([]byte("new"))
	put(t, f, "meanwhile 2")
	pending := f.Append([]byte("meanwhile 3"))
	if err := w.Done(); err != nil {
		t.Fatal(err)
	}
	for _, position := range []Position{before, pending} {
		if err := f.Commit(position); err != nil {
			t.Fatal(err)
		}
	}
	put(t, f, "after")
	size := f.Size()
	closeLog(t, f)
	if diff := cmp.Diff([]string{"queues-000002.log", "queues.lock"}, names(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if info, err := os.Stat(f.path(2)); err != nil || info.Size() != size {
		t.Errorf("got size %d, %v; want %d", info.Size(), err, size)
	}
	wantRecords(t, dir, "new", "meanwhile 1", "meanwhile 2", "meanwhile 3", "after")
}

func TestRewriteToNothing(t *testing.T) {
	dir := t.TempDir()
	f, _ := open(t, dir)
	put(t, f, "old")
	if err := f.Rewrite().Done(); err != nil {
		t.Fatal(err)
	}
	put(t, f, "new")
	closeLog(t, f)
	wantRecords(t, dir, "new")
}

func TestRewriteThatFails(t *testing.T) {
	dir := t.TempDir()
	f, _ := open(t, dir)
	put(t, f, "old")
	w := f.Rewrite()
	w.Write([]byte("new"))
	put(t, f, "meanwhile")
	reason := errors.New("no space")
	w.Fail(reason)
	if err := w.Done(); !errors.Is(err, reason) {
		t.Errorf("got %v", err)
	}
	put(t, f, "after")
	closeLog(t, f)
	if diff := cmp.Diff([]string{"queues-000001.log", "queues.lock"}, names(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	wantRecords(t, dir, "old", "meanwhile", "after")
}

// TestCrashedRewrite has what is left when the process is killed at each step.
func TestCrashedRewrite(t *testing.T) {
	content := func(records ...string) []byte {
		b := []byte(magic)
		for _, record := range records {
			b = frame(b, []byte(record))
		}
		return b
	}
	for _, test := range []struct {
		name  string
		files map[string][]byte
		want  string
	}{
		{"before the rename", map[string][]byte{"queues-000001.log": content("old"), "queues-000002.new": content("new")}, "old"},
		{"after the rename", map[string][]byte{"queues-000001.log": content("old"), "queues-000002.log": content("new")}, "new"},
	} {
		dir := t.TempDir()
		for name, b := range test.files {
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		wantRecords(t, dir, test.want)
		if got := names(t, dir); len(got) != 2 {
			t.Errorf("%s: left are %q", test.name, got)
		}
	}
}
