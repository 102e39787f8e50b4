package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// A target is a system and a processor to build for.
type target struct{ os, arch string }

// String is how Go writes it.
func (t target) String() string { return t.os + "/" + t.arch }

const allTargets = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"

// parseTargets reads a list of them.
func parseTargets(list string) ([]target, error) {
	var targets []target
	for one := range strings.SplitSeq(list, ",") {
		if !slices.Contains(strings.Split(allTargets, ","), one) {
			return nil, fmt.Errorf("-targets: %q is none of %s", one, allTargets)
		}
		system, arch, _ := strings.Cut(one, "/")
		targets = append(targets, target{system, arch})
	}
	return targets, nil
}

// built is the program for one target.
type built struct {
	target  target
	program []byte
	info    *buildinfo.BuildInfo
	modules map[string]usedModule // by path
}

// program is the name of the file in an archive.
func (t target) program() string {
	if t.os == "windows" {
		return "carillon.exe"
	}
	return "carillon"
}

// environment returns the environment of a build. Settings of the caller do not affect the result.
func environment(t target) []string {
	return append(os.Environ(), "GOOS="+t.os, "GOARCH="+t.arch, "CGO_ENABLED=0",
		"GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GODEBUG=", "GOWORK=off", "GOFIPS140=off")
}

// compile builds the program into the working folder and returns its path.
func (r *release) compile(ctx context.Context, t target) (string, error) {
	path := filepath.Join(r.work, t.os+"-"+t.arch, t.program())
	//nolint:gosec // flags select the target
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=true", "-mod=readonly",
		"-ldflags", "-s -w -X main.version="+r.version, "-o", path, "./cmd/carillon")
	cmd.Dir, cmd.Env = r.root, environment(t)
	_, err := finish(cmd)
	return path, err
}

// build builds the program, and reads its build information.
func (r *release) build(ctx context.Context, t target) (built, error) {
	b := built{target: t}
	path, err := r.compile(ctx, t)
	if err != nil {
		return b, fmt.Errorf("%s: %w", t, err)
	}
	if b.program, err = os.ReadFile(path); err != nil {
		return b, err
	}
	if b.info, err = buildinfo.ReadFile(path); err != nil {
		return b, err
	}
	b.modules, err = r.usedModules(ctx, t)
	return b, err
}

// kit is what all targets have in common and the program itself makes.
type kit struct {
	completions map[string][]byte // by file name
	manual      []byte
}

// makeKit asks the program of this machine.
func (r *release) makeKit(ctx context.Context) (kit, error) {
	k := kit{completions: map[string][]byte{}}
	path, err := r.compile(ctx, target{runtime.GOOS, runtime.GOARCH})
	if err != nil {
		return k, err
	}
	for shell, file := range map[string]string{"bash": "carillon.bash", "zsh": "_carillon", "fish": "carillon.fish"} {
		text, err := output(ctx, r.work, path, "completion", shell)
		if err != nil {
			return k, err
		}
		k.completions[file] = []byte(text)
	}
	commands, err := output(ctx, r.work, path, "__complete", "")
	k.manual = manual(commands, r.number(), r.time)
	return k, err
}

// module is the released module.
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

// output runs a command and returns its output; the error of a failed command contains the output.
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
