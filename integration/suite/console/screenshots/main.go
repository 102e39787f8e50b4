// Command screenshots makes pictures of all pages of the console, light and dark, wide and narrow, in a folder.
//
//	go run ./integration/suite/console/screenshots
//	go run ./integration/suite/console/screenshots -out pictures -only jobs
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/carillon-sched/carillon/integration/suite/console/stage"
	"github.com/carillon-sched/carillon/integration/suite/console/tab"
	"github.com/carillon-sched/carillon/integration/testkit/dev"
)

func main() {
	out := flag.String("out", "screenshots", "the `folder` of the pictures")
	only := flag.String("only", "", "only pages with this `text` in their addresses")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *out, *only); err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to be stopped
	}
}

// run makes the pictures. It is run in the checkout.
func run(ctx context.Context, out, only string) (err error) {
	if err := os.MkdirAll(out, 0o750); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "carillon-screenshots-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	browser, err := tab.Launch(ctx)
	if err != nil {
		return err
	}
	defer browser.Close()
	program, err := dev.Build(ctx, ".", dir)
	if err != nil {
		return err
	}
	s, err := stage.Start(ctx, program, dir, filepath.Join("examples", "jobs"), filepath.Join("examples", "actions"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	if err := s.Fill(ctx); err != nil {
		return err
	}
	sheet := httptest.NewServer(stage.Sheet(ctx))
	defer sheet.Close()
	for _, look := range tab.Looks {
		err = errors.Join(err, picture(browser, sheet.URL, stage.SheetPath, out, look)) //nolint:contextcheck // the browser has it
		for _, path := range stage.Pages {
			if strings.Contains(path, only) {
				err = errors.Join(err, picture(browser, s.HTTP, path, out, look)) //nolint:contextcheck // the browser has it
			}
		}
	}
	return err
}

// picture makes the picture of a page as it is looked at.
func picture(b *tab.Browser, base, path, out string, look tab.Look) error {
	t, err := b.Open(base, look)
	if err != nil {
		return err
	}
	defer t.Close()
	if err := t.Go(path); err != nil {
		return err
	}
	data, err := t.Picture()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	scheme := "light"
	if look.Dark {
		scheme = "dark"
	}
	page := strings.Trim(strings.NewReplacer("/console/", "", "/", "-", "?", "-", "=", "-", "&", "-").Replace(path), "-")
	if page == "" {
		page = "overview"
	}
	file := filepath.Join(out, fmt.Sprintf("%s-%d-%s.png", page, look.Width, scheme))
	fmt.Println(file)
	return os.WriteFile(file, data, 0o600)
}
