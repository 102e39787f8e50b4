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

// An absence says what a run lacks on this machine.
type absence string

func (a absence) Error() string { return string(a) }

// engine is the Docker engine and what speaks to it.
type engine struct {
	command []string // docker compose, or docker-compose, with the profile
}

// project is the name of the stack, so that it is not taken for one that a person runs.
const project = "carillon-check"

// port is where the first scheduler answers on this machine.
const port = "18480"

// findEngine returns the engine of this machine. The error is an absence where there is none.
func findEngine(ctx context.Context, profile string) (engine, error) {
	if _, err := exec.LookPath("docker"); err != nil {
		return engine{}, absence("there is no docker command")
	}
	if out, err := exec.CommandContext(ctx, "docker", "version", "--format", "{{.Server.Version}}").CombinedOutput(); err != nil {
		return engine{}, absence("no Docker engine answers: " + strings.TrimSpace(string(out)))
	}
	for _, command := range [][]string{{"docker", "compose"}, {"docker-compose"}} {
		if exec.CommandContext(ctx, command[0], append(command[1:], "version")...).Run() == nil { //nolint:gosec // the names above
			return engine{append(command, "-p", project, "--profile", profile)}, nil
		}
	}
	return engine{}, absence("there is neither docker compose nor docker-compose")
}

// compose runs a command of docker compose.
func (e engine) compose(ctx context.Context, args ...string) error {
	_, err := quiet(ctx, append(slices.Clone(e.command), args...)...)
	return err
}

// follow gives each line of a service's log to take, until the service is removed or ctx ends; then the channel closes.
func (e engine) follow(ctx context.Context, service string, take func(line string)) <-chan struct{} {
	ended := make(chan struct{})
	args := append(slices.Clone(e.command), "logs", "--no-color", "-f", service)
	cmd := command(ctx, args...)
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
		"CARILLON_PORT_A="+port, "CARILLON_PORT_B=0", "CARILLON_SUBNET=10.213.58.0/24") // beside a stack that a person runs
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

// clear removes the stack with its volumes, and the stand-ins.
func (r *run) clear(ctx context.Context) {
	r.say("remove everything")
	if err := r.docker.compose(ctx, "down", "-v", "--remove-orphans"); err != nil {
		fmt.Fprintln(r.out, err)
	}
	if len(r.figures.StandIns) > 0 {
		_, _ = quiet(ctx, append([]string{"docker", "rmi", "-f"}, r.figures.StandIns...)...) // what is left does no harm
	}
}

// tellLogs prints the end of all logs.
func (r *run) tellLogs(ctx context.Context) {
	if out, err := quiet(ctx, append(r.docker.command, "logs", "--no-color", "--tail", "40")...); err == nil {
		fmt.Fprintln(r.out, out)
	}
	if out, err := quiet(ctx, append(r.docker.command, "ps")...); err == nil {
		fmt.Fprintln(r.out, out)
	}
}
