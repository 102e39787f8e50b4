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

// Where they name them.
const (
	golangImage = `(?m)^FROM (golang:\S+) AS build$`
	natsImage   = `(?m)^ *image: (nats:\S+)$`
)

// build makes the images of the stack, on stand-ins unless the real base images are to be pulled or are there.
func (r *run) build(ctx context.Context) error {
	if !r.pull {
		if err := r.standIns(ctx); err != nil {
			return err
		}
	}
	for image, target := range map[string]string{"carillon": "carillon", "carillon-consume": "consume"} {
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

// standIns makes the base images that are not there.
func (r *run) standIns(ctx context.Context) error {
	golang, err := named(dockerfile, golangImage)
	if err != nil {
		return err
	}
	nats, err := named(composeFile, natsImage)
	if err != nil {
		return err
	}
	for image, fill := range map[string]func(context.Context, string) error{golang: fillGo, nats: fillNATS} {
		if exec.CommandContext(ctx, "docker", "image", "inspect", image).Run() == nil { //nolint:gosec // named by the files above
			continue
		}
		r.say("make a stand-in for " + image)
		if err := standIn(ctx, image, fill); err != nil {
			return fmt.Errorf("stand-in for %s: %w", image, err)
		}
		r.figures.StandIns = append(r.figures.StandIns, image)
	}
	return nil
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

// standIn imports a root file system of BusyBox and what fill puts into it.
func standIn(ctx context.Context, image string, fill func(ctx context.Context, root string) error) error {
	root, err := os.MkdirTemp("", "carillon-image-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)                      //nolint:errcheck // a temporary folder
	if err := os.Chmod(root, 0o755); err != nil { //nolint:gosec // it becomes / of a container
		return err
	}
	if err := fillBusyBox(ctx, root); err != nil {
		return err
	}
	if err := fill(ctx, root); err != nil {
		return err
	}
	pack := fmt.Sprintf("tar -C %q -c . | docker import --change %q - %q", root,
		"ENV PATH=/usr/local/go/bin:/usr/local/bin:/bin", image)
	_, err = quiet(ctx, "sh", "-c", pack)
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

// fillGo puts this machine's Go and the authorities that it trusts there.
func fillGo(ctx context.Context, root string) error {
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
	_, err := quiet(ctx, "env", "CGO_ENABLED=0", "go", "build", "-o", filepath.Join(root, "usr", "local", "bin", "nats-server"),
		"github.com/nats-io/nats-server/v2")
	return err
}
