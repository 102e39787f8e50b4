package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// The files that name the base images, and are built.
const (
	dockerfile  = "cmd/carillon/Dockerfile"
	composeFile = "docker-compose.yml"
)

// base is an image that the stack is built on.
type base struct {
	file, pattern string // which file names it, and how
	fill          func(ctx context.Context, root string) error
	changes       []string // changes, in the syntax of a Dockerfile
	empty         bool     // without BusyBox, and nothing in it is root's
}

// bases are the base images of the stack, with their substitutes.
var bases = []base{
	{file: dockerfile, pattern: `(?m)^FROM (golang:\S+) AS build$`, fill: fillGo, changes: []string{
		"ENV PATH=/usr/local/go/bin:/bin", "ENV GOCACHE=/var/cache/go-build",
	}},
	{file: composeFile, pattern: `(?m)^ *image: (nats:\S+)$`, fill: fillNATS, changes: []string{"ENV PATH=/usr/local/bin:/bin"}},
}

// build builds the images of the stack, on substitutes unless the real base images are present or can be pulled.
func (r *run) build(ctx context.Context) error {
	for _, b := range bases {
		if err := r.standInFor(ctx, b); err != nil {
			return err
		}
	}
	for image, target := range map[string]string{"carillon:v0.1.0": "carillon", "carillon-consume:v0.1.0": "consume"} {
		r.say("build " + image)
		args := []string{"docker", "build", "--network", "host", "-f", dockerfile, "--target", target, "-t", image}
		if proxy, err := quiet(ctx, "go", "env", "GOPROXY"); err == nil {
			args = append(args, "--build-arg", "GOPROXY="+strings.TrimSpace(proxy))
		}
		if _, err := quiet(ctx, append(args, ".")...); err != nil {
			return err
		}
	}
	return nil
}

// standInFor makes a base image, if it is neither there nor to be pulled.
func (r *run) standInFor(ctx context.Context, b base) error {
	if r.pull {
		return nil
	}
	image, err := named(b.file, b.pattern)
	if err != nil || present(ctx, image) {
		return err
	}
	r.say("make a stand-in for " + image)
	if err := standIn(ctx, image, b); err != nil {
		return fmt.Errorf("stand-in for %s: %w", image, err)
	}
	r.figures.StandIns = append(r.figures.StandIns, image)
	return nil
}

// present reports whether the engine has an image.
func present(ctx context.Context, image string) bool {
	return exec.CommandContext(ctx, "docker", "image", "inspect", image).Run() == nil //nolint:gosec // named by the files above
}

// named returns the image that a file names.
func named(file, pattern string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("%w (run this at the top of the repository)", err)
	}
	m := regexp.MustCompile(pattern).FindSubmatch(data)
	if m == nil {
		return "", fmt.Errorf("%s names no such image: %s", file, pattern)
	}
	return string(m[1]), nil
}

// standInLabel marks stand-ins, and thereby the images built on them.
const standInLabel = "carillon.stand-in"

// standIn imports a root file system of BusyBox and what belongs to the image.
func standIn(ctx context.Context, image string, b base) error {
	root, err := os.MkdirTemp("", "carillon-image-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)                      //nolint:errcheck // a temporary folder
	if err := os.Chmod(root, 0o755); err != nil { //nolint:gosec // it becomes / of a container
		return err
	}
	owner := "0"
	if b.empty {
		owner = "65532"
	} else if err := fillBusyBox(ctx, root); err != nil {
		return err
	}
	if err := b.fill(ctx, root); err != nil {
		return err
	}
	pack := `root=$0 owner=$1; shift; tar -C "$root" --owner "$owner" --group "$owner" -c . | docker import "$@"`
	args := []string{"sh", "-c", pack, root, owner, "--change", "LABEL " + standInLabel + "=true"}
	for _, change := range b.changes {
		args = append(args, "--change", change)
	}
	_, err = quiet(ctx, append(args, "-", image)...)
	return err
}

// fillBusyBox puts a shell and the usual commands there.
func fillBusyBox(ctx context.Context, root string) error {
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		return errors.New("it needs busybox, linked statically: Debian's package busybox-static")
	}
	script := `cd "$0" && mkdir -p bin tmp root etc/ssl/certs usr/local/bin && chmod 1777 tmp && cp "$1" bin/busybox &&
		for name in $("$1" --list); do [ -e "bin/$name" ] || ln -s busybox "bin/$name"; done`
	_, err = quiet(ctx, "sh", "-c", script, root, busybox)
	return err
}

// fillGo adds Go and the compiled packages of this machine to an image, so that the Dockerfile only has to link.
func fillGo(ctx context.Context, root string) error {
	if err := copyGo(ctx, root); err != nil {
		return err
	}
	cache, err := likeDockerfile(ctx, "list", "-export", "-deps", "-f", "", "./cmd/carillon", "./examples/consume")
	if err != nil {
		return err
	}
	_, err = quiet(ctx, "sh", "-c", `mkdir -p "$0/var/cache" && cp -r "$1" "$0/var/cache/go-build"`, root, cache)
	return err
}

// copyGo puts this machine's Go there, and the authorities that it trusts.
func copyGo(ctx context.Context, root string) error {
	goroot, err := quiet(ctx, "go", "env", "GOROOT")
	if err != nil {
		return err
	}
	authorities := "/etc/ssl/certs/ca-certificates.crt"
	if file := os.Getenv("SSL_CERT_FILE"); file != "" {
		authorities = file
	}
	script := `cp -r "$1" "$0/usr/local/go" && cp "$2" "$0/etc/ssl/certs/ca-certificates.crt"`
	_, err = quiet(ctx, "sh", "-c", script, root, strings.TrimSpace(goroot), authorities)
	return err
}

// fillNATS puts the server there that the module is tested with.
func fillNATS(ctx context.Context, root string) error {
	_, err := likeDockerfile(ctx, "build", "-o", filepath.Join(root, "usr", "local", "bin", "nats-server"),
		"github.com/nats-io/nats-server/v2")
	return err
}

// likeDockerfile runs go with the Dockerfile's settings, and returns the folder of the compiled packages. It is
// in the user's cache, because compiling takes longer than everything else.
func likeDockerfile(ctx context.Context, args ...string) (cache string, err error) {
	user, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	cache = filepath.Join(user, "carillon", "compose", "go-build")
	env := []string{"env", "GOCACHE=" + cache, "CGO_ENABLED=0", "GOFLAGS=-trimpath", "go"}
	_, err = quiet(ctx, append(env, args...)...)
	return cache, err
}
