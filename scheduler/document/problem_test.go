package document_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/internal/climb"
)

// TestProblemsAreBounded shows that however much of a document is wrong, a hundred problems are told, and how many there
// are besides.
func TestProblemsAreBounded(t *testing.T) {
	for _, test := range []struct {
		n    int
		last string
	}{
		{99, "x98: unknown field"},
		{100, "x99: unknown field"},
		{101, "and 1 more problems"},
		{4000, "and 3900 more problems"},
	} {
		var b strings.Builder
		for i := range test.n {
			fmt.Fprintf(&b, `"x%d":1,`, i)
		}
		v, err := document.Parse([]byte("{" + strings.TrimSuffix(b.String(), ",") + "}"))
		if err != nil {
			t.Fatal(err)
		}
		r := document.NewReader()
		o := r.Object(v, "")
		o.Done()
		problems, _ := r.Err().(document.Problems) //nolint:errorlint // it returns nothing else
		if want := min(test.n, 101); len(problems) != want || r.Problems() != test.n || problems[want-1].Error() != test.last {
			t.Errorf("%d problems of %d, the last %q, want %d and %q", len(problems), r.Problems(), problems[len(problems)-1], want, test.last)
		}
		if again := problems.Short(); len(again) != len(problems) || again[len(again)-1] != problems[len(problems)-1] {
			t.Errorf("shortened again, they are %d, the last %q", len(again), again[len(again)-1])
		}
	}
	o := document.NewReader()
	for range 200 {
		o.Object(document.StringValue(""), "").Report(document.Problem{Message: "reported"})
	}
	if problems, _ := o.Err().(document.Problems); len(problems) != 101 { //nolint:errorlint // as above
		t.Errorf("%d problems were reported", len(problems))
	}
}

// TestProblemsAreShort shows that a problem does not repeat all of what is long.
func TestProblemsAreShort(t *testing.T) {
	long := strings.Repeat("é", 10_000)
	many := make(document.Problems, 300)
	for i := range many {
		many[i] = document.Problem{Path: "a." + long + ".z", Message: fmt.Sprintf("%q is not one of x, y", long)}
	}
	short := many.Short()
	if len(short) != 101 || short[100].Message != "and 200 more problems" {
		t.Fatalf("%d problems, the last %q", len(short), short[len(short)-1])
	}
	if p := short[0]; len(p.Error()) > 2000 || !strings.HasPrefix(p.Path, "a.é") || !strings.HasSuffix(p.Message, "is not one of x, y") ||
		strings.ContainsRune(p.Error(), '\uFFFD') {
		t.Errorf("%d bytes: %s", len(p.Error()), p)
	}
	if many[0].Message == short[0].Message {
		t.Error("the problems themselves are changed")
	}
}

// TestLongNamesAreNotCopied shows that what looks for secrets does not make a path of each value below a long name.
func TestLongNamesAreNotCopied(t *testing.T) {
	text := `{"` + strings.Repeat("n", 8000) + `":[` + strings.Repeat("1,", 3900) + `1],"password":"x"}`
	v, err := document.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	r := document.NewReader()
	o := r.Object(v, "")
	o.Secret("password")
	cost := climb.Measure(func() {
		sealed, err := v.Seal("properties", func(string, string) (string, error) { return "sealed", nil })
		if err != nil {
			t.Fatal(err)
		}
		if open, _ := v.SecretPaths(); len(open) != 1 {
			t.Fatalf("secrets at %q", open)
		}
		sealed.Unseal("properties", func(string, string) (string, error) { return "x", nil })
	})
	if cost.Allocated > 4<<20 {
		t.Errorf("%d KiB are allocated for %d bytes", cost.Allocated>>10, len(text))
	}
}
