package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// An absence is a missing requirement on this machine.
type absence string

func (a absence) Error() string { return string(a) }

// engine is the Docker engine and what speaks to it.
type engine struct {
	command []string // docker compose, or docker-compose, with this project
	profile string
}

// project is the name of the stack, different from a developer's.
const project = "carillon-check"

// port is where the first scheduler answers on this machine.
const port = "18480"

// answers checks that an engine responds. Without one, the error is an absence.
func answers(ctx context.Context) error {
	if _, err := exec.LookPath("docker"); err != nil {
		return absence("docker is not installed")
	}
	if out, err := exec.CommandContext(ctx, "docker", "version", "--format", "{{.Server.Version}}").CombinedOutput(); err != nil {
		return absence("no Docker engine answers: " + strings.TrimSpace(string(out)))
	}
	return nil
}

// findEngine returns this machine's engine for a profile. Without one, the error is an absence.
func findEngine(ctx context.Context, profile string) (engine, error) {
	if err := answers(ctx); err != nil {
		return engine{}, err
	}
	for _, command := range [][]string{{"docker", "compose"}, {"docker-compose"}} {
		if exec.CommandContext(ctx, command[0], append(command[1:], "version")...).Run() == nil { //nolint:gosec // the names above
			return engine{append(command, "-p", project), profile}, nil
		}
	}
	return engine{}, absence("there is neither docker compose nor docker-compose")
}

// compose runs a command of docker compose.
func (e engine) compose(ctx context.Context, args ...string) error {
	_, err := quiet(ctx, e.line(args...)...)
	return err
}

// line is a command of docker compose.
func (e engine) line(args ...string) []string {
	return slices.Concat(e.command, []string{"--profile", e.profile}, args)
}

// up starts the stack.
func (e engine) up(ctx context.Context) error { return e.compose(ctx, "up", "-d", "--no-build") }

// follow gives each line of a service's log to take, until the service is removed or ctx ends; then the channel closes.
func (e engine) follow(ctx context.Context, service string, take func(line string)) <-chan struct{} {
	ended := make(chan struct{})
	cmd := command(ctx, e.line("logs", "--no-color", "-f", service)...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	go func() {
		defer close(ended)
		if err != nil {
			return
		}
		for lines := bufio.NewScanner(out); lines.Scan(); {
			_, line, _ := strings.Cut(lines.Text(), "| ") // after the service's name
			take(line)
		}
		_ = cmd.Wait() // its output is what counts
	}()
	return ended
}

// command is one with the settings of the check.
func command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...) //nolint:gosec // written in this package
	cmd.Env = append(os.Environ(),
		"DOCKER_BUILDKIT=0",                                                            // it would look for base images in a registry
		"CARILLON_PORT_A="+port, "CARILLON_PORT_B=0", "CARILLON_SUBNET=10.213.58.0/24") // separate from a developer's stack
	return cmd
}

// quiet runs a command, and returns its output, which is part of the error if it fails.
func quiet(ctx context.Context, args ...string) (string, error) {
	cmd := command(ctx, args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return string(out), nil
}

// clear removes the stack, its volumes, and the stand-ins.
func (r *run) clear(ctx context.Context) {
	r.say("remove everything")
	if err := r.docker.compose(ctx, "down", "-v", "--remove-orphans"); err != nil {
		fmt.Fprintln(r.out, err)
	}
	images := r.figures.StandIns
	if built, err := quiet(ctx, "docker", "images", "-q", "--filter", "label="+standInLabel, "--filter", "dangling=true"); err == nil {
		images = append(images, strings.Fields(built)...) // the stages of the Dockerfile
	}
	if len(images) > 0 {
		_, _ = quiet(ctx, append([]string{"docker", "rmi", "-f"}, images...)...) // leftovers are harmless
	}
}

// tellLogs prints the end of all logs.
func (r *run) tellLogs(ctx context.Context) {
	if out, err := quiet(ctx, r.docker.line("logs", "--no-color", "--tail", "40")...); err == nil {
		fmt.Fprintln(r.out, out)
	}
	if out, err := quiet(ctx, r.docker.line("ps")...); err == nil {
		fmt.Fprintln(r.out, out)
	}
}
