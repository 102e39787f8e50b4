package size

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
)

// TestGuide shows that the guide has what the command prints.
func TestGuide(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "docs", "guides", "high-availability.md"))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	c := Command{
		Jobs: 151e3, Runs: 44, Burst: 50e3, Attempt: 200 * time.Millisecond, Replicas: 3, HistoryAge: 60 * 24 * time.Hour, HistoryPerJob: 90e3,
	}
	if err := c.Run(&terminal.Terminal{Out: &out, Err: &strings.Builder{}}); err != nil {
		t.Fatal(err)
	}
	const want = "carillon size --jobs 151k --runs 44/s --burst 50k\n```\n\n```text\n"
	if _, shown, _ := strings.Cut(string(page), want); !strings.HasPrefix(shown, out.String()+"```\n") {
		t.Errorf("the guide does not have\n%s", out.String())
	}
}

// TestRates reads and prints numbers.
func TestRates(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{"5": 5, "500/s": 500, "90/m": 1.5, "90/min": 1.5, "7.2M/h": 2000, "86.4k/d": 1} {
		var r Rate
		if err := r.UnmarshalText([]byte(text)); err != nil || math.Abs(float64(r)-want) > 1e-9 {
			t.Errorf("%s: %v, %v", text, r, err)
		}
	}
	for _, text := range []string{"", "/s", "k", "-1", "1/", "1/w", "5//s", "1e400", "Inf", "NaN", "2T"} {
		var r Rate
		if err := r.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q: %v", text, r)
		}
	}
	for n, want := range map[float64]string{0: "0", 0.25: "0.2", 7: "7", 9.96: "10", 999.4: "999", 999.6: "1k", 1500: "1.5k", 25160: "25k", 2e12: "2000G"} {
		if got := short(n); got != want {
			t.Errorf("%v: %s, want %s", n, got, want)
		}
	}
}
