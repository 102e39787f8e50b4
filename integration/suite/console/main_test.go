package console

import (
	"context"
	"errors"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/carillon-sched/carillon/integration/suite/console/stage"
	"github.com/carillon-sched/carillon/integration/suite/console/tab"
	"github.com/carillon-sched/carillon/integration/testkit/dev"
)

// root is the checkout.
var root = filepath.Join("..", "..", "..")

// parallel is how many tests run at a time by default: they wait for pages and schedulers most of the time, not for a processor.
const parallel = 3

func TestMain(m *testing.M) {
	flag.Parse()
	if at := flag.Lookup("test.parallel"); at.Value.String() == at.DefValue {
		_ = at.Value.Set(strconv.Itoa(max(parallel, runtime.GOMAXPROCS(0)))) // a number
	}
	status := m.Run()
	shared.end()
	os.Exit(status)
}

// shared is what tests have in common: one program, one browser, and one scheduler for those that change nothing that others
// look at.
var shared = &common{}

type common struct {
	once    sync.Once
	err     error
	dir     string
	program string
	browser *tab.Browser
	stage   *stage.Stage
}

func (c *common) begin() {
	ctx := context.Background()
	if c.dir, c.err = os.MkdirTemp("", "carillon-console-"); c.err != nil {
		return
	}
	if c.browser, c.err = tab.Launch(ctx); c.err != nil {
		return
	}
	if c.program, c.err = dev.Build(ctx, root, c.dir); c.err != nil {
		return
	}
	if c.stage, c.err = stage.Start(ctx, c.program, c.dir, filepath.Join(root, "examples", "jobs"), filepath.Join(root, "examples", "actions")); c.err != nil {
		return
	}
	c.err = c.stage.Fill(ctx)
}

func (c *common) end() {
	if c.stage != nil {
		_ = c.stage.Stop() // only what it showed matters
	}
	if c.browser != nil {
		c.browser.Close()
	}
	if c.dir != "" {
		_ = os.RemoveAll(c.dir)
	}
}

// needed begins what tests have in common, or skips. The test runs beside others then: most of what a test does is to wait.
func needed(t *testing.T) *common {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves the browser out: go test ./integration/suite/console")
	}
	shared.once.Do(shared.begin)
	if errors.Is(shared.err, tab.ErrNoBrowser) {
		t.Skip("NOT RUN: " + shared.err.Error())
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	t.Parallel()
	return shared
}

// own starts a scheduler of the test's own, without jobs.
func own(t *testing.T) *stage.Stage {
	t.Helper()
	s, err := stage.Start(t.Context(), needed(t).program, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	return s
}

// api sends a request to the REST API of a scheduler, which must succeed, and returns the answer.
func api(t *testing.T, s *stage.Stage, method, path string, document any) string {
	t.Helper()
	status, body, err := s.Call(t.Context(), method, path, document)
	if err != nil || status/100 != 2 {
		t.Fatalf("%s %s: %d %s (%v)", method, path, status, body, err)
	}
	return string(body)
}

// open opens a tab. At the end of the test nothing may have happened in it that must not.
func open(t *testing.T, base string, look tab.Look) *tab.Tab {
	t.Helper()
	page, err := shared.browser.Open(base, look)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, wrong := range page.Wrong() {
			t.Error(wrong)
		}
		page.Close()
	})
	return page
}

// gate is a target that answers when it is let to, and at once from then on.
func gate(t *testing.T) (url string, let func()) {
	t.Helper()
	opened := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-opened:
		case <-r.Context().Done():
		}
	}))
	let = sync.OnceFunc(func() { close(opened) })
	t.Cleanup(func() {
		let()
		server.Close()
	})
	return server.URL, let
}

// must ends the test with an error.
func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
