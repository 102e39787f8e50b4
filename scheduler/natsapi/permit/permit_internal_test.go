package permit

import "testing"

// TestNoLeastRole checks that nobody gets a subject without a least role.
func TestNoLeastRole(t *testing.T) {
	cfg := Config{Role: Admin, Prefix: "carillon"}
	if got := cfg.subjects([]subject{{name: "api.new"}}); got != nil {
		t.Errorf("an admin may publish to %v", got)
	}
}
