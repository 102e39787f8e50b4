package scheduler_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// impureImports are forbidden imports, and import trees that end in a slash: concurrency, I/O and randomness.
var impureImports = []string{
	"sync", "sync/", "golang.org/x/sync/", "runtime", "runtime/", // side by side
	"os", "os/", "io/fs", "io/ioutil", "bufio", "log", "log/", "net/", "syscall", "database/", "embed", // out of the process
	"github.com/nats-io/", "github.com/prometheus/", "go.opentelemetry.io/", "golang.org/x/net/",
	"math/rand", "math/rand/", "crypto/", "unsafe", "C", // chance, and what no rule can see
}

// pureOf are the allowed names of a package that is otherwise forbidden.
var pureOf = map[string][]string{
	"net":           {"SplitHostPort", "JoinHostPort"}, // texts
	"crypto/sha256": {"Sum256"},                        // a function of its argument
}

// clocks are the names in package time that read the clock or wait.
var clocks = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"}

// contexts are the names in package context that signatures need.
var contexts = []string{"Context"}

// TestPurity limits this package to a vocabulary and decisions: no goroutines, channels or locks, no I/O, no clock but
// the times passed in, and no randomness.
func TestPurity(t *testing.T) {
	entries := must.Get(os.ReadDir("."))(t)
	files := 0
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		files++
		source := must.Get(os.ReadFile(e.Name()))(t)
		for _, problem := range impurities(t, e.Name(), string(source)) {
			t.Error(problem)
		}
	}
	if files == 0 {
		t.Error("there are no files to look at")
	}
}

// impurities returns the impure parts of a file, each with its line.
func impurities(t *testing.T, name, source string) []string {
	t.Helper()
	positions := token.NewFileSet()
	file := must.Get(parser.ParseFile(positions, name, source, parser.SkipObjectResolution))(t)
	var problems []string
	report := func(n ast.Node, what string) {
		problems = append(problems, name+":"+strconv.Itoa(positions.Position(n.Pos()).Line)+": "+what)
	}
	packages := map[string]string{} // what a file calls the packages that are looked at: their paths
	for _, spec := range file.Imports {
		path := must.Get(strconv.Unquote(spec.Path.Value))(t)
		local := path[strings.LastIndexByte(path, '/')+1:]
		if spec.Name != nil {
			local = spec.Name.Name
		}
		_, some := pureOf[path]
		switch {
		case !some && impureImport(path):
			report(spec, "imports "+path)
		case (some || path == "time" || path == "context") && local == ".":
			report(spec, "imports all names of "+path)
		}
		packages[local] = path
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if what := impurity(n, packages); what != "" {
			report(n, what)
		}
		return true
	})
	return problems
}

func impureImport(path string) bool {
	return slices.ContainsFunc(impureImports, func(p string) bool {
		return path == p || strings.HasSuffix(p, "/") && strings.HasPrefix(path, p)
	})
}

// impurity returns what makes a single node impure; "" for nothing.
func impurity(n ast.Node, packages map[string]string) string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "starts a goroutine"
	case *ast.SelectStmt:
		return "selects"
	case *ast.SendStmt:
		return "sends"
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			return "receives"
		}
	case *ast.CallExpr:
		return impureCall(n)
	case *ast.SelectorExpr:
		local, ok := n.X.(*ast.Ident)
		if !ok {
			return ""
		}
		path := packages[local.Name]
		pure, some := pureOf[path]
		switch {
		case path == "time" && slices.Contains(clocks, n.Sel.Name),
			path == "context" && !slices.Contains(contexts, n.Sel.Name),
			some && !slices.Contains(pure, n.Sel.Name):
			return "uses " + path + "." + n.Sel.Name
		}
	}
	return ""
}

// impureCall finds calls of print and of the built-in functions for channels.
func impureCall(call *ast.CallExpr) string {
	f, ok := call.Fun.(*ast.Ident)
	if !ok {
		return ""
	}
	switch f.Name {
	case "close":
		return "closes"
	case "print", "println":
		return "prints"
	case "make":
		if _, ok := call.Args[0].(*ast.ChanType); ok {
			return "makes a channel"
		}
	}
	return ""
}

// TestImpurities checks that the rules detect violations.
func TestImpurities(t *testing.T) {
	const header = "package p\n"
	for source, want := range map[string]string{
		`import "sync"; var mu sync.Mutex`:                                 "imports sync",
		`import "sync/atomic"; var n atomic.Int64`:                         "imports sync/atomic",
		`import "golang.org/x/sync/errgroup"; var g errgroup.Group`:        "imports golang.org/x/sync/errgroup",
		`import "os"; var f = os.Stdout`:                                   "imports os",
		`import "io/fs"; var f fs.FS`:                                      "imports io/fs",
		`import "bufio"; var r bufio.Reader`:                               "imports bufio",
		`import "log/slog"; var l slog.Logger`:                             "imports log/slog",
		`import "net/http"; var c http.Client`:                             "imports net/http",
		`import "net"; var c, _ = net.Dial("tcp", "x:1")`:                  "uses net.Dial",
		`import n "net"; var c, _ = n.Listen("tcp", ":1")`:                 "uses net.Listen",
		`import . "net"; var c, _ = Dial("tcp", "x:1")`:                    "imports all names of net",
		`import "net"; var h, p, err = net.SplitHostPort("x:1")`:           "",
		`import "github.com/nats-io/nats.go"; var c nats.Conn`:             "imports github.com/nats-io/nats.go",
		`import "crypto/rand"; var r = rand.Reader`:                        "imports crypto/rand",
		`import "math/rand/v2"; var n = rand.Int()`:                        "imports math/rand/v2",
		`import "hash/fnv"; var h = fnv.New64a()`:                          "",
		`import "io"; func f(r io.Reader) {}`:                              "",
		`import "time"; var now = time.Now()`:                              "uses time.Now",
		`import "time"; var clock = time.Now`:                              "uses time.Now",
		`import t "time"; var d = t.Since(t.Time{})`:                       "uses time.Since",
		`import "time"; var d = time.Until(time.Time{})`:                   "uses time.Until",
		`import "time"; func f() { time.Sleep(1) }`:                        "uses time.Sleep",
		`import "time"; var c = time.After(1)`:                             "uses time.After",
		`import "time"; var c = time.AfterFunc(1, nil)`:                    "uses time.AfterFunc",
		`import "time"; var c = time.NewTimer(1)`:                          "uses time.NewTimer",
		`import "time"; var c = time.NewTicker(1)`:                         "uses time.NewTicker",
		`import "time"; var c = time.Tick(1)`:                              "uses time.Tick",
		`import . "time"; var now = Now()`:                                 "imports all names of time",
		`import "time"; func f(a, b time.Time) bool { return a.After(b) }`: "",
		`import "context"; func f(ctx context.Context) {}`:                 "",
		`import "context"; var ctx = context.Background()`:                 "uses context.Background",
		`func f() { go f() }`:                                              "starts a goroutine",
		`func f() { select {} }`:                                           "selects",
		`func f(c chan int) { c <- 1 }`:                                    "sends",
		`func f(c chan int) { <-c }`:                                       "receives",
		`func f(c chan int) { close(c) }`:                                  "closes",
		`var c = make(chan int, 1)`:                                        "makes a channel",
		`var m = make(map[string]int)`:                                     "",
		`func f() { println("x") }`:                                        "prints",
		`type seam interface{ Wait(wake <-chan struct{}) }`:                "", // what others implement
	} {
		problems := impurities(t, "p.go", header+source)
		if want != "" {
			want = "p.go:2: " + want
		}
		if got := strings.Join(problems, "; "); got != want {
			t.Errorf("%s: got %q, want %q", source, got, want)
		}
	}
}
