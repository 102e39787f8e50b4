// Package integration tests what no single package can: how the packages fit together, and whole systems.
package integration

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/carillon-sched/carillon"

// A layer is one package of the module, or with "/..." a tree of them, and what its code may import. Tests may import
// anything.
type layer struct {
	path    string   // below the module
	imports []string // packages of the module, besides the layer itself; below the module
	never   []string // packages that must not come in through other modules or the standard library either
}

// layers is the import direction: cmd → scheduler/{rest,natsapi,console} → service, worker → cache, limits, secrets, step →
// scheduler → scheduler/spec → its languages → what they are made of → scheduler/document. Service and worker never
// import each other, nobody but spec imports a language, and nobody but expression imports CEL. The first layer that
// matches a package counts, and each package must have one.
var layers = []layer{
	{path: "scheduler/document", never: outside},
	{path: "scheduler/spec", imports: []string{"scheduler/spec/...", "scheduler/document"}, never: outside},
	{path: "scheduler/spec/azure", imports: []string{"scheduler/spec/internal/...", "scheduler/document"}, never: outside},
	{path: "scheduler/spec/cron", imports: []string{"scheduler/spec/internal/..."}, never: outside},
	{path: "scheduler/spec/rrule", imports: []string{"scheduler/spec/internal/..."}, never: outside},
	{path: "scheduler/spec/internal/calendar", imports: []string{"scheduler/spec/internal/work"}, never: outside},
	{path: "scheduler/spec/internal/...", imports: []string{"scheduler/document"}, never: outside},
	{path: "scheduler/expression", never: outside},
	{path: "scheduler/internal/climb", never: outside},
	{path: "scheduler/internal/fixture", imports: []string{"scheduler", "scheduler/document"}, never: outside}, // for tests
	{path: "scheduler/internal/hostile", imports: []string{"scheduler/internal/climb"}},                        // for tests
	{path: "scheduler/internal/plainjson", never: outside},
	{path: "scheduler", imports: []string{"scheduler/expression", "scheduler/internal/plainjson", "scheduler/spec", "scheduler/document"}, never: append([]string{"go.opentelemetry.io/..."}, outside...)},
	{path: "scheduler/auth", never: outside},
	{path: "scheduler/variable", imports: []string{"scheduler/document"}, never: outside},
	{path: "scheduler/audit", imports: append([]string{"scheduler/internal/plainjson"}, decisions...), never: outside},
	{path: "scheduler/api/v1", imports: append([]string{"scheduler/auth", "scheduler/source"}, decisions...), never: outside},
	{path: "scheduler/schema", imports: append([]string{"scheduler/source", "scheduler/auth", "scheduler/api/v1"}, decisions...), never: outside},
	{path: "scheduler/awx", imports: decisions, never: outside},
	{path: "scheduler/explain", imports: append([]string{"scheduler/auth", "scheduler/audit"}, decisions...), never: outside},
	{path: "scheduler/forecast", imports: decisions, never: outside},
	{path: "scheduler/api", imports: append([]string{"scheduler/auth", "scheduler/awx", "scheduler/explain", "scheduler/forecast", "scheduler/schema", "scheduler/audit", "scheduler/api/v1"}, decisions...), never: []string{"github.com/nats-io/..."}},
	{path: "scheduler/api/dispatch", imports: append([]string{"scheduler/auth", "scheduler/api", "scheduler/control", "scheduler/audit", "scheduler/api/v1"}, decisions...), never: []string{"github.com/nats-io/..."}},
	{path: "scheduler/ical", never: outside},
	{path: "scheduler/engine/limits", imports: []string{"scheduler", "scheduler/document"}, never: outside},
	{path: "scheduler/fairqueue", never: outside},
	{path: "scheduler/flow", imports: decisions, never: outside},
	{path: "scheduler/jobcache", imports: append([]string{"scheduler/flow"}, decisions...), never: outside},
	{path: "scheduler/historyindex", imports: decisions, never: outside},
	{path: "scheduler/jobcache/index", imports: append([]string{"scheduler/flow"}, decisions...), never: outside},
	{path: "scheduler/tracing", imports: decisions, never: []string{"github.com/nats-io/...", "go.opentelemetry.io/otel/sdk/...", "go.opentelemetry.io/otel/exporters/..."}},
	{path: "scheduler/secrets/seal", never: outside},
	{path: "scheduler/secrets", imports: append([]string{"scheduler/source", "scheduler/jobcache", "scheduler/secrets/seal", "scheduler/api/v1"}, decisions...), never: outside},
	{path: "scheduler/auth/tokens", imports: append([]string{"scheduler/auth", "scheduler/jobcache", "scheduler/api/v1"}, decisions...), never: outside},
	{path: "scheduler/engine/step", imports: append([]string{"scheduler/flow", "scheduler/tracing"}, decisions...), never: outside},
	{path: "scheduler/source", imports: decisions, never: outside},
	{path: "scheduler/source/webhook", imports: append([]string{"scheduler/source"}, decisions...), never: []string{"github.com/nats-io/..."}},
	{path: "scheduler/registry", imports: append([]string{"scheduler/flow"}, decisions...), never: outside},
	{path: "scheduler/backup", imports: append([]string{"scheduler/registry", "scheduler/source"}, decisions...), never: outside},
	{path: "scheduler/control", imports: append([]string{"scheduler/source", "scheduler/awx", "scheduler/fairqueue", "scheduler/forecast", "scheduler/historyindex", "scheduler/jobcache/index", "scheduler/registry", "scheduler/auth/tokens", "scheduler/api/v1", "scheduler/explain"}, rooms...), never: outside},
	{path: "scheduler/engine", imports: append([]string{"scheduler/engine/limits"}, rooms...), never: outside},
	{path: "scheduler/metrics", imports: append([]string{"scheduler/api/v1", "scheduler/engine"}, decisions...), never: []string{"github.com/nats-io/..."}},
	{path: "scheduler/throttle"},
	{path: "scheduler/capacity", never: outside},
	{path: "scheduler/guard", imports: []string{"scheduler/auth", "scheduler/control", "scheduler/throttle"}},
	{path: "scheduler/stats", imports: append([]string{"scheduler/api/v1", "scheduler/source"}, decisions...), never: outside},
	{path: "scheduler/importer", imports: decisions, never: outside},
	{path: "scheduler/client", imports: append([]string{"scheduler/source", "scheduler/auth", "scheduler/api", "scheduler/forecast", "scheduler/flow", "scheduler/audit", "scheduler/api/v1", "scheduler/explain"}, decisions...), never: server},
	{path: "scheduler/auth/issuer", imports: append([]string{"scheduler/auth", "scheduler/flow"}, decisions...), never: []string{"github.com/nats-io/..."}},
	{path: "scheduler/rest/...", imports: append([]string{"scheduler/auth/issuer"}, apis...)},
	{path: "scheduler/natsapi/...", imports: apis},
	{path: "scheduler/console/words", never: outside},
	{path: "scheduler/console/consoletest", imports: product}, // for tests
	{path: "scheduler/console/...", imports: append([]string{"scheduler/stats"}, apis...)},
	{path: "store/embedded/clustertest", imports: []string{"integration/testkit/freeport"}}, // for tests
	{path: "store/storetest", imports: []string{"integration/testkit/bubble"}},              // for tests
	{path: "store", imports: append([]string{"store/...", "scheduler/audit"}, decisions...), never: server},
	{path: "store/conn", imports: append([]string{"store/failover"}, decisions...), never: server},
	{path: "store/batons", imports: smallStore, never: server},
	{path: "store/buckets", imports: append([]string{"scheduler/audit"}, smallStore...), never: server},
	{path: "store/history", imports: append([]string{"scheduler/audit"}, smallStore...), never: server},
	{path: "store/specs", imports: smallStore, never: server},
	{path: "store/...", imports: append([]string{"store/wire"}, decisions...)},
	{path: "actions/receive", imports: append([]string{"scheduler/flow", "scheduler/source"}, decisions...), never: outside},
	{path: "actions/natsmsg/...", imports: append([]string{"actions/...", "scheduler/source"}, decisions...)},
	{path: "actions/builtin", imports: append([]string{"actions/..."}, decisions...)},
	{path: "actions/actiontest", imports: append([]string{"actions", "actions/egress", "integration/testkit/freeport"}, decisions...)}, // for tests
	{path: "actions/...", imports: append([]string{"scheduler/flow", "scheduler/source"}, decisions...), never: []string{"github.com/nats-io/..."}},
	{path: "cmd/carillon/listen/connlimit"},                                                              // the emulators use it, too
	{path: "cmd/carillon", imports: append([]string{"cmd/...", "integration/emulator/..."}, product...)}, // for `carillon dev`
	{path: "cmd/carillon/emulate", imports: append([]string{"cmd/...", "integration/emulator/..."}, product...)},
	{path: "cmd/...", imports: product},
	{path: "examples/...", imports: append([]string{"integration/emulator/..."}, product...)},
	{path: "integration/testkit/bubble"},   // for tests
	{path: "integration/testkit/freeport"}, // for tests
	// The emulators are of use without the rest of the project, and each without the other. They limit connections as the
	// product does.
	{path: "integration/testkit/dev", never: outside}, // for tests
	{path: "integration/testkit/group", never: outside},
	{path: "integration/testkit/mutate", never: outside},
	{path: "integration/testkit/logtest", never: outside}, // for tests
	{path: "integration/testkit/must", never: outside},    // for tests
	{path: "integration/emulator/internal/..."},
	{path: "integration/emulator/servicebus/...", imports: []string{"cmd/carillon/listen/connlimit", "integration/emulator/internal/..."}},
	{path: "integration/emulator/storagequeue/...", imports: []string{"cmd/carillon/listen/connlimit", "integration/emulator/internal/..."}},
	// Their pages are of use without a scheduler.
	{path: "integration/emulator/queues", imports: []string{
		"integration/emulator/servicebus/browse", "integration/emulator/storagequeue", "scheduler/auth", "scheduler/console/frame", "scheduler/console/words",
	}},
	{path: "integration/emulator/emulatortest", imports: []string{"integration/emulator/servicebus", "integration/emulator/storagequeue"}},
	{path: "integration/suite/sdk/...", imports: []string{"integration/emulator/...", "integration/testkit/dev", "integration/testkit/group"}},
	{path: "integration/...", imports: product},
}

var (
	outside    = []string{"net/http", "github.com/nats-io/..."}
	server     = []string{"github.com/nats-io/nats-server/..."} // programs that only ask a scheduler are small
	decisions  = []string{"scheduler", "scheduler/expression", "scheduler/spec", "scheduler/document"}
	smallStore = append([]string{"store/conn", "store/failover"}, decisions...) // none knows another
	rooms      = append([]string{"scheduler/auth", "scheduler/jobcache", "scheduler/flow", "scheduler/secrets/...", "scheduler/engine/step", "scheduler/tracing", "scheduler/audit"}, decisions...)
	apis       = append([]string{"scheduler/source/...", "scheduler/source", "scheduler/auth", "scheduler/api/...", "scheduler/awx", "scheduler/fairqueue", "scheduler/forecast", "scheduler/guard", "scheduler/ical", "scheduler/flow", "scheduler/schema", "scheduler/secrets", "scheduler/control", "scheduler/throttle", "scheduler/auth/tokens", "scheduler/tracing", "scheduler/audit", "scheduler/variable", "scheduler/api/v1", "scheduler/explain"}, decisions...)
	product    = []string{"scheduler/...", "store/...", "actions/..."}
)

func TestImportDirection(t *testing.T) {
	for _, problem := range misdirected(listPackages(t)) {
		t.Error(problem)
	}
}

// TestMisdirected shows that the rules bite.
func TestMisdirected(t *testing.T) {
	tests := []struct {
		from, to string
		want     string // part of the only problem; "" for none
	}{
		{"scheduler/document", "scheduler", "may not import"},
		{"scheduler/spec", "scheduler/document", ""},
		{"scheduler/spec", "scheduler", "may not import"},
		{"scheduler/spec", "scheduler/spec/cron", ""},
		{"scheduler/spec/cron", "scheduler/spec", "may not import"},
		{"scheduler/spec/cron", "scheduler/spec/rrule", "may not import"},
		{"scheduler/spec/cron", "scheduler/spec/internal/localtime", ""},
		{"scheduler/spec/internal/instant", "scheduler/spec/cron", "may not import"},
		{"scheduler/spec/internal/calendar", "scheduler/spec/internal/localtime", "may not import"},
		{"scheduler", "scheduler/spec/rrule", "may not import"},
		{"scheduler", "scheduler/spec", ""},
		{"scheduler", "scheduler/control", "may not import"},
		{"scheduler/control", "scheduler/engine/step", ""},
		{"scheduler/control", "scheduler/engine", "may not import"},
		{"scheduler/engine", "scheduler/control", "may not import"},
		{"scheduler/engine", "scheduler/engine/limits", ""},
		{"scheduler/secrets/seal", "scheduler/document", "may not import"},
		{"scheduler", "store", "may not import"},
		{"scheduler", "example.org/metrics", "example.org/metrics → net/http"},
		{"scheduler", "github.com/nats-io/nats.go", "may not depend on"},
		{"scheduler", "scheduler/engine/limits", "may not import"},
		{"scheduler", "scheduler/expression", ""},
		{"scheduler/flow", "scheduler/expression", ""},
		{"scheduler/expression", "scheduler", "may not import"},
		{"scheduler/expression", "cel.dev/cel-go/cel", ""},
		{"scheduler", "cel.dev/cel-go/cel", "may not import"},
		{"scheduler", "scheduler/tracing", "may not import"},
		{"scheduler", "go.opentelemetry.io/otel/trace", "may not depend on"},
		{"scheduler/engine", "scheduler/tracing", ""},
		{"scheduler/tracing", "go.opentelemetry.io/otel/trace", ""},
		{"scheduler/tracing", "go.opentelemetry.io/otel/sdk/trace", "may not depend on"},
		{"scheduler", "scheduler/internal/climb", "may not import"},
		{"scheduler", "scheduler/internal/plainjson", ""},
		{"scheduler/api/v1", "scheduler/internal/plainjson", "may not import"},
		{"scheduler/auth", "scheduler", "may not import"},
		{"scheduler/control", "scheduler/auth", ""},
		{"scheduler/rest", "scheduler/auth", ""},
		{"scheduler/engine/limits", "scheduler", ""},
		{"scheduler/metrics", "scheduler/engine", ""},
		{"scheduler/metrics", "store", "may not import"},
		{"scheduler/engine/limits", "scheduler/spec", "may not import"},
		{"scheduler/engine/limits", "net/http", "may not depend on"},
		{"scheduler/rest", "scheduler/spec", ""},
		{"scheduler/rest", "scheduler/console", "may not import"},
		{"scheduler/rest", "net/http", ""},
		{"scheduler/client", "scheduler/api/v1", ""},
		{"scheduler/client", "github.com/nats-io/nats.go", ""},
		{"scheduler/client", "github.com/nats-io/nats-server/v2/server", "may not depend on"},
		{"scheduler/client", "scheduler/control", "may not import"},
		{"scheduler/client", "store", "may not import"},
		{"scheduler/other", "scheduler", "no layer"},
		{"store", "scheduler", ""},
		{"store", "actions", "may not import"},
		{"actions", "actions/natsmsg", ""},
		{"actions/natsmsg", "github.com/nats-io/nats.go", ""},
		{"actions/builtin", "actions/natsmsg", ""},
		{"actions/pool", "github.com/nats-io/nats.go", "may not depend on"},
		{"actions/web", "github.com/nats-io/nats.go", "may not depend on"},
		{"actions/web", "store", "may not import"},
		{"cmd/carillon", "integration/emulator/servicebus", ""},
		{"cmd/carillon", "integration/tool/bench", "may not import"},
		{"cmd/carillon/emulate", "integration/emulator/storagequeue", ""},
		{"cmd/carillon/listen", "integration/emulator/servicebus", "may not import"},
		{"cmd/carillon/listen/connlimit", "cmd/carillon/listen", "may not import"},
		{"integration/emulator/servicebus", "integration/emulator/servicebus/internal/broker", ""},
		{"integration/emulator/servicebus", "integration/emulator/internal/wal", ""},
		{"integration/emulator/servicebus", "integration/emulator/storagequeue", "may not import"},
		{"integration/emulator/servicebus", "scheduler", "may not import"},
		{"integration/emulator/emulatortest", "integration/emulator/servicebus", ""},
		{"integration/emulator/emulatortest", "integration/suite/sdk", "may not import"},
		{"integration/suite/sdk/delivery", "integration/emulator/emulatortest", ""},
		{"integration/suite/sdk", "store", "may not import"},
		{"integration/tool/bench", "store", ""},
		{"integration/tool/bench", "cmd/carillon", "may not import"},
		{"examples/first", "scheduler/rest", ""},
	}
	inModule := func(path string) string {
		if strings.Contains(path, ".") || path == "net/http" {
			return path
		}
		return module + "/" + path
	}
	for _, test := range tests {
		problems := misdirected(map[string][]string{
			inModule(test.from):   {inModule(test.to)},
			"example.org/metrics": {"net/http"},
		})
		if got := strings.Join(problems, "\n"); !strings.Contains(got, test.want) || (test.want == "") != (got == "") {
			t.Errorf("%s → %s: got %q, want %q", test.from, test.to, got, test.want)
		}
	}
}

// misdirected returns every import that goes the wrong way, given the imports of each package by import path.
func misdirected(imports map[string][]string) []string {
	var problems []string
	for path := range imports {
		name, ok := below(path)
		if !ok {
			continue
		}
		i := slices.IndexFunc(layers, func(l layer) bool { return matches(name, l.path) })
		if i < 0 {
			problems = append(problems, name+": no layer of imports_test.go has this package")
			continue
		}
		own := layers[i]
		for _, imported := range imports[path] {
			if to, ok := below(imported); ok && !matches(to, own.path) && !matches(to, own.imports...) {
				problems = append(problems, name+" may not import "+to)
			}
			if matches(imported, "cel.dev/...") && name != "scheduler/expression" {
				problems = append(problems, name+" may not import "+imported)
			}
		}
		if chain := reach(imports, path, own.never); chain != nil {
			problems = append(problems, name+" may not depend on "+strings.Join(chain, " → "))
		}
	}
	slices.Sort(problems)
	return problems
}

// reach returns a shortest chain of imports from path, itself left out, to a package that matches a pattern, or nil. It
// does not go through other packages of the module: they have their own layers.
func reach(imports map[string][]string, path string, patterns []string) []string {
	seen := map[string]bool{path: true}
	for chains := [][]string{{path}}; len(chains) > 0; chains = chains[1:] {
		chain := chains[0]
		for _, imported := range imports[chain[len(chain)-1]] {
			next := append(slices.Clone(chain), imported)
			if matches(imported, patterns...) {
				return next[1:]
			}
			if _, ok := below(imported); !ok && !seen[imported] {
				seen[imported] = true
				chains = append(chains, next)
			}
		}
	}
	return nil
}

// below returns an import path without the module's, or false if it is not in the module.
func below(path string) (string, bool) {
	if path == module {
		return ".", true
	}
	return strings.CutPrefix(path, module+"/")
}

// matches reports whether path is one of the patterns, or in the tree of one that ends in "/...".
func matches(path string, patterns ...string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		root, tree := strings.CutSuffix(pattern, "/...")
		return path == root || tree && strings.HasPrefix(path, root+"/")
	})
}

// listPackages returns the imports, tests' apart, of the module's packages and of all that they depend on.
func listPackages(t *testing.T) map[string][]string {
	t.Helper()
	readTree(t)
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Imports", "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(explain(err))
	}
	imports := map[string][]string{}
	decoder := json.NewDecoder(bytes.NewReader(out))
	for {
		var listed struct {
			ImportPath string   `json:"ImportPath"`
			Imports    []string `json:"Imports"`
		}
		if err := decoder.Decode(&listed); errors.Is(err, io.EOF) {
			return imports
		} else if err != nil {
			t.Fatal(err)
		}
		imports[listed.ImportPath] = listed.Imports
	}
}

// readTree reads the module's folders. The go command reuses a test's result while the files that the test itself has
// looked at are unchanged, and does not know what a child process reads.
func readTree(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		hidden := path != ".." && strings.HasPrefix(entry.Name(), ".")
		if entry.IsDir() && (hidden || entry.Name() == "node_modules" || err != nil) {
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// explain adds what a command said to the error of running it.
func explain(err error) error {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	return err
}

// TestTopLevel keeps the repository to its few folders.
func TestTopLevel(t *testing.T) {
	allowed := []string{
		"scheduler", "actions", "store", "cmd", "examples", "integration",
		"go.mod", "go.sum", "docker-compose.yml", "README.md", "LICENSE",
	}
	for _, name := range topLevel(t) {
		if !strings.HasPrefix(name, ".") && !slices.Contains(allowed, name) {
			t.Errorf("%s: not a top-level name of the layout", name)
		}
	}
}

// topLevel returns the first elements of the committed paths or, outside a git checkout, the names in the root.
func topLevel(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	out, err := exec.CommandContext(t.Context(), "git", "-C", "..", "ls-files", "-z").Output()
	if err != nil {
		for _, entry := range entries {
			names = append(names, entry.Name())
		}
		return names
	}
	for path := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		name, _, _ := strings.Cut(path, "/")
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
