package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// programs are the paths of the measured programs.
type programs struct {
	carillon, server string
	against          string // the other carillon, or ""
}

const carillonPackage = "github.com/carillon-sched/carillon/cmd/carillon"

// build builds, in dir, Carillon of this source, nats-server of its go.mod, and the build that -against names.
func (b *bench) build(ctx context.Context, dir string) (err error) {
	b.log.Printf("build the programs")
	if b.programs.carillon == "" {
		b.programs = programs{carillon: filepath.Join(dir, "carillon"), server: filepath.Join(dir, "nats-server")}
		if _, err = execute(ctx, "", "go", "build", "-o", dir, carillonPackage, "github.com/nats-io/nats-server/v2"); err != nil {
			return err
		}
	}
	if b.against == "" {
		return nil
	}
	if info, err := os.Stat(b.against); err == nil && info.Mode().IsRegular() {
		b.programs.against, err = filepath.Abs(b.against)
		return err
	}
	b.programs.against, err = buildRevision(ctx, dir, b.against, carillonPackage)
	return err
}

// buildRevision builds a program of a git revision and returns its path.
func buildRevision(ctx context.Context, dir, revision, program string) (string, error) {
	root, err := execute(ctx, "", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return "", err
	}
	source, file := filepath.Join(dir, "source"), filepath.Join(dir, "carillon-against")
	if err := os.Mkdir(source, 0o700); err != nil {
		return "", err
	}
	for _, command := range [][]string{
		{root, "git", "archive", "-o", source + ".tar", revision},
		{source, "tar", "-xf", source + ".tar"},
		{source, "go", "build", "-o", file, program},
	} {
		if _, err := execute(ctx, command[0], command[1], command[2:]...); err != nil {
			return "", err
		}
	}
	return file, nil
}

// execute runs a command in a directory and returns the line that it prints.
func execute(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // commands of this package
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}
