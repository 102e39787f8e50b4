package hostile

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// TestRightDocuments shows that there are documents of each kind, and of no other, and that all can be read.
func TestRightDocuments(t *testing.T) {
	for kind, all := range right {
		if !slices.Contains(Kinds, kind) {
			t.Errorf("%q is no kind", kind)
		}
		for _, body := range all {
			if _, err := document.Parse([]byte(body)); body != "" && err != nil {
				t.Errorf("%s: %s: %v", kind, body, err)
			}
		}
	}
	for _, kind := range Kinds {
		if len(right[kind]) == 0 {
			t.Errorf("there is no %s", kind)
		}
	}
}

// TestBody draws documents, the same from the same seed: some as they should be, and many others.
func TestBody(t *testing.T) {
	once, again := rand.New(rand.NewPCG(1, 2)), rand.New(rand.NewPCG(1, 2))
	asTheyShould, drawn := 0, map[string]bool{}
	for range 1000 {
		body := Body(once, Job)
		if body != Body(again, Job) {
			t.Fatalf("not drawn again: %q", body)
		}
		if drawn[body] = true; slices.Contains(right[Job], body) {
			asTheyShould++
		}
	}
	if asTheyShould < 300 || len(drawn) < 300 {
		t.Errorf("%d of 1,000 are as they should be, %d differ", asTheyShould, len(drawn))
	}
}
