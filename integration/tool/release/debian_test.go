package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// packageFile is the package for Debian of the release.
func packageFile(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("dpkg-deb"); err != nil || runtime.GOOS != "linux" {
		t.Skip("dpkg is not here; it is on Debian and what is made of it")
	}
	return filepath.Join(releaseDir(t), "carillon_0.1.0_"+runtime.GOARCH+".deb")
}

// TestDebianContents has dpkg-deb tell what is in the package.
func TestDebianContents(t *testing.T) {
	file := packageFile(t)
	list, err := output(t.Context(), ".", "dpkg-deb", "--contents", file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"-rwxr-xr-x root/root .* ./usr/bin/carillon", "-rw-r--r-- root/root .* ./usr/lib/systemd/system/carillon.service",
		"-rw-r--r-- root/root .* ./etc/carillon/serve.yaml", "-rw-r--r-- root/root .* ./usr/share/man/man1/carillon.1.gz",
		".* ./usr/share/bash-completion/completions/carillon", ".* ./usr/share/zsh/vendor-completions/_carillon",
		".* ./usr/share/fish/vendor_completions.d/carillon.fish", ".* ./usr/share/doc/carillon/examples/systemd/credentials.conf",
	} {
		if !regexp.MustCompile(`(?m)^` + want + `$`).MatchString(list) {
			t.Errorf("there is no %s in\n%s", want, list)
		}
	}
	info, err := output(t.Context(), ".", "dpkg-deb", "--field", file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Package: carillon\n", "Version: 0.1.0\n", "Architecture: " + runtime.GOARCH + "\n"} {
		if !strings.Contains(info, want) {
			t.Errorf("there is no %q in\n%s", want, info)
		}
	}
}

// TestLintian has Debian's own checker look at the package, where it is.
func TestLintian(t *testing.T) {
	file := packageFile(t)
	lintian, err := exec.LookPath("lintian")
	if err != nil {
		t.Skip("lintian is not here; on Debian: apt-get install lintian")
	}
	out, err := exec.CommandContext(t.Context(), lintian, "--fail-on", "error,warning", "--tag-display-limit", "0", file).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestDebianLife installs the package, changes its settings, upgrades it, removes and purges it.
func TestDebianLife(t *testing.T) {
	file := packageFile(t)
	if os.Getuid() != 0 {
		t.Skip("dpkg changes its root for the scripts of a package, which only root may")
	}
	root := debianRoot(t)
	dpkg := func(args ...string) {
		t.Helper()
		args = append([]string{"--root=" + root, "--force-depends", "--force-confdef,confold", "--log=/dev/null"}, args...)
		if out, err := exec.CommandContext(t.Context(), "dpkg", args...).CombinedOutput(); err != nil {
			t.Fatalf("dpkg %v: %v\n%s", args, err, out)
		}
	}
	dpkg("--install", file)
	out, err := output(t.Context(), ".", "chroot", root, "/usr/bin/carillon", "version")
	if err != nil || !strings.HasPrefix(out, "carillon v0.1.0, ") {
		t.Errorf("the installed program: %q, %v", out, err)
	}
	if left := enabled(t, root); left != nil {
		t.Errorf("the service is to start by itself: %q", left)
	}
	set := filepath.Join(root, settings)
	const own = "nats-url: [nats://nats.example:4222]\n"
	if err := os.WriteFile(set, []byte(own), 0o644); err != nil {
		t.Fatal(err)
	}
	dpkg("--install", later(t, file))
	if kept, err := os.ReadFile(set); err != nil || string(kept) != own {
		t.Errorf("after an upgrade the settings are %q, %v", kept, err)
	}
	dpkg("--remove", "carillon")
	if _, err := os.Stat(filepath.Join(root, "usr", "bin", "carillon")); err == nil {
		t.Error("the program is still there")
	}
	if _, err := os.Stat(set); err != nil {
		t.Errorf("the settings are gone: %v", err)
	}
	dpkg("--purge", "carillon")
	if _, err := os.Stat(filepath.Dir(set)); err == nil {
		t.Error("the settings are still there")
	}
}

// debianRoot is a file system with dpkg's own folders and what the scripts of a package need: a shell.
func debianRoot(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{"var/lib/dpkg/info", "var/lib/dpkg/updates", "bin", "usr/bin", "dev", "etc/systemd/system"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "var", "lib", "dpkg", "status"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	needs, err := output(t.Context(), ".", "ldd", "/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(regexp.MustCompile(`/\S+`).FindAllString(needs, -1), "/bin/sh") {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(root, file)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// enabled is what makes systemd start something by itself.
func enabled(t *testing.T, root string) (links []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(root, "etc", "systemd"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			links = append(links, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return links
}

// later is the package again, as another version, with other settings.
func later(t *testing.T, file string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "package")
	if _, err := output(t.Context(), ".", "dpkg-deb", "--raw-extract", file, dir); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"DEBIAN/control": {"Version: 0.1.0", "Version: 0.2.0"},
		settings:         {"127.0.0.1:8080", "127.0.0.1:8081"},
	} {
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(text, []byte(change[0])) {
			t.Fatalf("%s has no %q: %v", name, change[0], err)
		}
		if err := os.WriteFile(path, bytes.ReplaceAll(text, []byte(change[0]), []byte(change[1])), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	built := dir + ".deb"
	if _, err := output(t.Context(), ".", "dpkg-deb", "-Znone", "--root-owner-group", "--build", dir, built); err != nil {
		t.Fatal(err)
	}
	return built
}
