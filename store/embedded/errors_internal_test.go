package embedded

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// TestHarmlessWarnings logs only those warnings of a restart after a crash that need attention.
func TestHarmlessWarnings(t *testing.T) {
	var out bytes.Buffer
	l := &logger{log: slog.New(slog.NewTextHandler(&out, nil))}
	const adding = "    Error adding consumer '%s > %s > %s': %v"
	l.Warnf("Filestore [%s] Stream state is outdated; attempting to recover", "ORDERS")
	l.Warnf(adding, "$G", "CARILLON_SPECS", "JS_SRC_fXvttsBx", "consumer name already in use (10013)")
	if out.Len() > 0 {
		t.Errorf("harmless: %s", &out)
	}
	l.Warnf(adding, "$G", "CARILLON_SPECS", "JS_SRC_fXvttsBx", "no space left on device")
	l.Warnf(adding, "$G", "ORDERS", "mine", "consumer name already in use (10013)")
	if n := strings.Count(out.String(), "level=WARN"); n != 2 {
		t.Errorf("%d warnings, want 2: %s", n, &out)
	}
}
