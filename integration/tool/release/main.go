package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

func main() {
	o := options{dir: "."}
	flag.StringVar(&o.version, "version", "", "version of the release, such as v0.1.0")
	flag.StringVar(&o.out, "out", "dist", "folder to write to, below the top of the repository; what it has from before goes")
	flag.StringVar(&o.targets, "targets", allTargets, "systems and processors to build for, between commas")
	flag.BoolVar(&o.dirty, "dirty", false, "build although files differ from the commit; the programs say so")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to be stopped
	}
}

// options are the flags.
type options struct {
	dir                   string // in the repository
	version, out, targets string
	dirty                 bool
}

// run builds a release and lists its files.
func run(ctx context.Context, o options, w io.Writer) error {
	if semver.Canonical(o.version) != o.version || o.version == "" {
		return fmt.Errorf("-version %q is no version, such as v0.1.0", o.version)
	}
	targets, err := parseTargets(o.targets)
	if err != nil {
		return err
	}
	src, err := findSource(ctx, o.dir, o.version)
	if err != nil {
		return err
	}
	if src.changed && !o.dirty {
		return errors.New("files differ from the commit; commit them, or say -dirty")
	}
	if !filepath.IsAbs(o.out) {
		o.out = filepath.Join(src.root, o.out)
	}
	if err := clearOut(o.out); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "carillon-release-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	r := release{source: src, out: o.out, work: work}
	if err := r.all(ctx, targets, w); err != nil {
		return err
	}
	return r.sum()
}

// clearOut creates an empty folder. It refuses to clear a folder that contains anything but a release.
func clearOut(dir string) error {
	old, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, entry := range old {
		if entry.Name() != sums && !strings.HasPrefix(entry.Name(), "carillon_") {
			return fmt.Errorf("%s has %s, which is of no release; name an empty folder with -out", dir, entry.Name())
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.MkdirAll(dir, 0o755) //nolint:gosec // releases are public
}

// release is a release in progress.
type release struct {
	source

	out  string // where its files go
	work string // for temporary files
	kit  kit
}

// all builds for each target, and writes its files.
func (r *release) all(ctx context.Context, targets []target, w io.Writer) error {
	var err error
	if r.kit, err = r.makeKit(ctx); err != nil {
		return err
	}
	for _, t := range targets {
		start := time.Now()
		b, err := r.build(ctx, t)
		if err != nil {
			return err
		}
		names, err := r.pack(b)
		if err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		fmt.Fprintf(w, "%-14s %5.1f s  %s\n", t, time.Since(start).Seconds(), strings.Join(names, " "))
	}
	return nil
}

// pack writes all files of a target and returns their names.
func (r *release) pack(b built) ([]string, error) {
	name := strings.Join([]string{"carillon", r.number(), b.target.os, b.target.arch}, "_")
	bom, err := r.bom(b)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{name + ".cdx.json": bom}
	content, err := r.content(b)
	if err != nil {
		return nil, err
	}
	if b.target.os == "windows" {
		files[name+".zip"], err = zipped(name, content, r.time)
	} else {
		files[name+".tar.gz"], err = tarred(name, content, r.time)
	}
	if err != nil {
		return nil, err
	}
	if b.target.os == "linux" {
		deb := strings.Join([]string{"carillon", r.number(), b.target.arch}, "_") + ".deb"
		if files[deb], err = r.deb(b); err != nil {
			return nil, err
		}
	}
	return writeAll(r.out, files)
}
