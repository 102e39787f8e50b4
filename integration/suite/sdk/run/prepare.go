package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// python is a client that a Debian package has, for the system's Python.
func python(name, script, module, packages string) client {
	from := "Python module " + module + " (Debian: apt-get install " + packages + ")"
	return client{name: name, from: from, prepare: func(ctx context.Context, r *runner) ([]string, error) {
		for _, interpreter := range []string{"/usr/bin/python3", "python3"} {
			if exec.CommandContext(ctx, interpreter, "-c", "import "+module).Run() == nil { //nolint:gosec // ours
				return []string{interpreter, filepath.Join(r.sdk, "python", script)}, nil
			}
		}
		return nil, absence("no " + from)
	}}
}

// azureCLI is the program az, driven by a script.
func azureCLI(name, script string) client {
	from := "program az (Debian: apt-get install azure-cli)"
	return client{name: name, from: from, prepare: func(ctx context.Context, r *runner) ([]string, error) {
		az, err := exec.LookPath("az")
		if err != nil {
			return nil, absence("no " + from)
		}
		// The script loads the program's modules once, instead of starting the program for each command.
		interpreter := "/usr/bin/python3"
		if exec.CommandContext(ctx, interpreter, "-c", "import azure.cli.core").Run() != nil {
			return nil, absence("the modules of " + az + " are not those of " + interpreter + ", as Debian has them")
		}
		return []string{interpreter, filepath.Join(r.sdk, "python", script)}, nil
	}}
}

// npm is a client that the lock file in the folder npm names.
func npm(name, script, module string) client {
	from := "npm package, Node.js 20 or later"
	return client{name: name, from: from, prepare: func(ctx context.Context, r *runner) ([]string, error) {
		node, err := exec.LookPath("node")
		if err != nil {
			return nil, absence("no " + from)
		}
		check := "process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)"
		if err := exec.CommandContext(ctx, node, "-e", check).Run(); err != nil { //nolint:gosec // ours
			return nil, absence("Node.js is older than 20")
		}
		if err := r.packages(ctx); err != nil {
			return nil, err
		}
		return []string{node, filepath.Join(r.sdk, "npm", script), module}, nil
	}}
}

// installPackages installs the npm packages of the lock file, unless they are up to date.
func installPackages(ctx context.Context, dir string) error {
	if newer(filepath.Join(dir, "node_modules", ".package-lock.json"), filepath.Join(dir, "package-lock.json")) {
		return nil
	}
	path, err := exec.LookPath("npm")
	if err != nil {
		return absence("no npm to install it with")
	}
	options := []string{"--prefix", dir, "ci", "--no-audit", "--no-fund", "--loglevel=error"}
	return build(ctx, path, options...)
}

// golang returns a client that is a Go module in dir below the folder golang, with the versions of modfile.
// words are arguments of the suite.
func golang(name, dir, modfile string, words ...string) client {
	return client{name: name, from: "Go module", prepare: func(ctx context.Context, r *runner) ([]string, error) {
		path, err := exec.LookPath("go")
		if err != nil {
			return nil, absence("no go to build it with")
		}
		program := filepath.Join(r.dir, strings.Join(append([]string{dir, modfile}, words...), "-"))
		source := filepath.Join(r.sdk, "golang", dir)
		if err := build(ctx, path, "-C", source, "build", "-modfile", modfile, "-o", program, "."); err != nil {
			return nil, err
		}
		return append([]string{program}, words...), nil
	}}
}

// fetchTime is how long it may take to fetch and build: registries that do not answer are asked again and again.
const fetchTime = 15 * time.Minute

// unreachable is what npm and go say, in lower case, when packages are not here and their registry cannot be reached, or will not give
// them.
var unreachable = []string{
	"dial tcp", "no such host", "i/o timeout", "tls handshake timeout", "connection reset by peer", "proxyconnect", "x509:",
	"context deadline exceeded", "module lookup disabled by goproxy=off", "disabled by goflags", "407 proxy", "502 bad gateway",
	"503 service unavailable", "504 gateway", "403 forbidden", "enotfound", "eai_again", "etimedout", "econnrefused", "econnreset",
	"ehostunreach", "enetunreach", "enotcached", "err_socket_timeout", "e403", "e407", "e502", "e503", "e504", "self_signed_cert",
	"unable_to_get_issuer_cert",
}

// build runs a command that fetches and builds. Where the registry cannot be reached, the error is an absence.
func build(ctx context.Context, program string, arguments ...string) error {
	within, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	command := exec.CommandContext(within, program, arguments...) //nolint:gosec // ours
	bound(command)
	out, err := command.CombinedOutput()
	switch {
	case err == nil:
		return nil
	case ctx.Err() == nil && within.Err() != nil:
		return absence(fmt.Sprintf("its packages cannot be had within %v: %s", fetchTime, complaint(out)))
	}
	said := strings.ToLower(string(out))
	if slices.ContainsFunc(unreachable, func(sign string) bool { return strings.Contains(said, sign) }) {
		return absence(fmt.Sprintf("its packages cannot be had: %s", complaint(out)))
	}
	return fmt.Errorf("%s: %w: %s", strings.Join(command.Args, " "), err, complaint(out))
}

// newer reports whether a file exists and is not older than another.
func newer(file, than string) bool {
	a, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	b, other := os.Stat(than)
	return err == nil && other == nil && !a.ModTime().Before(b.ModTime())
}

// complaint returns the line of an output with the error: the last one that mentions an error, or the last.
func complaint(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for _, line := range slices.Backward(lines) {
		if strings.Contains(strings.ToLower(line), "error") && !strings.Contains(line, "A complete log of this run") {
			return strings.TrimSpace(line)
		}
	}
	return strings.TrimSpace(lines[len(lines)-1])
}
