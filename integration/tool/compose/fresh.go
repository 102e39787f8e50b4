package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// fresh is the try of a clone in a container that has nothing but Go and the authorities that this machine trusts: no
// shell, no git, no C compiler, no home directory, and a user that has no name.
type fresh struct {
	out     io.Writer
	tests   string // arguments of go test, none if empty
	figures freshFigures
}

type freshFigures struct {
	Commit        string  `json:"commit"`
	BuildSeconds  float64 `json:"buildSeconds"`                    // with the download of the modules
	FirstDelivery float64 `json:"secondsFromBuildToFirstDelivery"` // promised is promptly
	Tests         string  `json:"tests,omitempty"`
	TestSeconds   float64 `json:"testSeconds,omitempty"`
}

// Names of the containers and volumes, which are removed at the end.
const (
	freshName = "carillon-fresh"
	developed = "go run ./cmd/carillon dev examples/jobs"
)

// promptly is how soon after the build the first job has run.
const promptly = 10 * time.Second

// slowly bounds each command, as there is nothing that was compiled before.
const slowly = time.Hour

// all runs both commands, and cleans up.
func (f *fresh) all(ctx context.Context) error {
	if err := answers(ctx); err != nil {
		return err
	}
	say(f.out, "clone into an empty file system")
	defer f.clear(context.WithoutCancel(ctx))
	if err := standIn(ctx, freshName, base{fill: fillFresh, empty: true, changes: []string{
		"USER 65532:65532", "WORKDIR /src",
		"ENV PATH=/usr/local/go/bin", "ENV HOME=", "ENV GOCACHE=/cache/build", "ENV GOMODCACHE=/cache/mod",
	}}); err != nil {
		return err
	}
	commit, err := quiet(ctx, "git", "rev-parse", "--short", "HEAD")
	if err != nil {
		return err
	}
	f.figures.Commit = strings.TrimSpace(commit)
	if err := f.develop(ctx); err != nil {
		return fmt.Errorf("%s: %w", developed, err)
	}
	if f.tests != "" {
		if err := f.test(ctx); err != nil {
			return err
		}
	}
	data, err := json.Marshal(f.figures)
	if err == nil {
		fmt.Fprintf(f.out, "%s\n", data)
	}
	return err
}

// develop runs the first command of the README until a job was delivered.
func (f *fresh) develop(ctx context.Context) error {
	say(f.out, developed)
	ctx, cancel := context.WithTimeout(ctx, slowly)
	defer cancel()
	start := time.Now()
	cmd := f.container(ctx, "-x", developed) // -x shows when the built program starts
	cmd.Stdout = nil
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() {
		_, _ = quiet(context.WithoutCancel(ctx), "docker", "rm", "-f", freshName)
		_ = cmd.Wait() // it was killed
	}()
	built, delivery, err := deliver(out)
	if err != nil {
		return err
	}
	f.figures.BuildSeconds = built.Sub(start).Seconds()
	f.figures.FirstDelivery = time.Since(built).Seconds()
	say(f.out, fmt.Sprintf("%.1f s after the build: %s", f.figures.FirstDelivery, delivery))
	if time.Since(built) > promptly {
		return fmt.Errorf("the first delivery came %.1f s after the build, which is more than %s", f.figures.FirstDelivery, promptly)
	}
	return nil
}

// completed matches a line of dev that reports a completed job.
var completed = regexp.MustCompile(`^\d\d:\d\d:\d\d\.\d+ +\S+ +completed `)

// deliver reads what go run -x prints, and returns when the program was built, and the line of its first delivery.
func deliver(out io.Reader) (built time.Time, delivery string, err error) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	var last []string
	for lines.Scan() {
		switch line := lines.Text(); {
		case built.IsZero() && strings.HasSuffix(line, "/carillon dev examples/jobs"):
			built, last = time.Now(), nil
		case !built.IsZero() && completed.MatchString(line):
			return built, line, nil
		default:
			last = append(last[max(0, len(last)-20):], line)
		}
	}
	return built, "", fmt.Errorf("it ended: %w\n%s", errors.Join(lines.Err(), io.ErrUnexpectedEOF), strings.Join(last, "\n"))
}

// test runs the second command of the README.
func (f *fresh) test(ctx context.Context) error {
	f.figures.Tests = "go test " + f.tests
	say(f.out, f.figures.Tests)
	ctx, cancel := context.WithTimeout(ctx, slowly)
	defer cancel()
	start := time.Now()
	cmd := f.container(ctx, "", f.figures.Tests)
	cmd.Stdout, cmd.Stderr = f.out, f.out
	err := cmd.Run()
	f.figures.TestSeconds = time.Since(start).Seconds()
	if err != nil {
		return fmt.Errorf("%s: %w", f.figures.Tests, err)
	}
	return nil
}

// container returns a command in the container. Commands share their build cache.
func (f *fresh) container(ctx context.Context, goflags, line string) *exec.Cmd {
	args := []string{"run", "--rm", "--name", freshName, "--cap-drop", "ALL", "--security-opt", "no-new-privileges"}
	args = append(args, "-v", freshName+":/cache", "-e", "GOFLAGS="+goflags)
	if proxy, err := quiet(ctx, "go", "env", "GOPROXY"); err == nil {
		args = append(args, "-e", "GOPROXY="+strings.TrimSpace(proxy))
	}
	args = append(append(args, freshName), strings.Fields(line)...)
	return exec.CommandContext(ctx, "docker", args...)
}

// clear removes the containers and volumes.
func (f *fresh) clear(ctx context.Context) {
	say(f.out, "remove everything")
	for _, args := range [][]string{{"rm", "-f"}, {"volume", "rm", "-f"}, {"rmi", "-f"}} {
		_, _ = quiet(ctx, append(append([]string{"docker"}, args...), freshName)...) // leftovers are harmless
	}
}

// fillFresh puts Go, the authorities and a clone of the last commit there.
func fillFresh(ctx context.Context, root string) error {
	for folder, mode := range map[string]os.FileMode{"tmp": 0o1777, "cache": 0o755, "usr/local": 0o755, "etc/ssl/certs": 0o755} {
		if err := os.MkdirAll(filepath.Join(root, folder), mode); err != nil {
			return err
		}
	}
	if err := copyGo(ctx, root); err != nil {
		return err
	}
	_, err := quiet(ctx, "git", "clone", "-q", "--no-local", ".", filepath.Join(root, "src"))
	return err
}
