package docs_test

import (
	"testing"

	"github.com/carillon-sched/carillon/cmd/carillon/docs"
)

// TestSearch: the terms that newcomers search for are found, and a word in a heading outweighs mentions.
func TestSearch(t *testing.T) {
	for _, term := range []string{
		"misfire policy", "dead-letter queue", "failover", "RBAC", "high availability", "daylight saving time", "backpressure",
		"graceful shutdown", "rate limit", "circuit breaker", "idempotency", "rolling upgrade",
	} {
		if len(docs.Search(term)) == 0 {
			t.Errorf("%q: nothing found", term)
		}
	}
	found := docs.Search("Restore")
	if len(found) < 2 || found[0].Page != "backup" {
		t.Errorf("restore: %+v", found)
	}
	for _, nothing := range []string{"", " ", "backup zebra"} {
		if got := docs.Search(nothing); got != nil {
			t.Errorf("%q: found %+v", nothing, got)
		}
	}
}
