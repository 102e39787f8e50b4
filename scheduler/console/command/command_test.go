package command

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// hostile are texts that a shell, or a command, might take for something else.
var hostile = []string{
	"", "plain", "it's", "'", `'\''`, `"`, "$HOME", "`date`", "$(date)", "\\", "a\\\nb", "!!", "*", "~", "; rm -rf x", "| cat", "> x", "CARILLON",
	"a\nCARILLON\nb", "CARILLON\nCARILLON2", "-n", "%s", "שלום\u202e", "tab\there", "{{.}}{{{", "${CARILLON_TOKEN}", "<<'CARILLON'",
}

// TestQuoting has a real shell read what is quoted for it.
func TestQuoting(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatalf("there is no shell: %v", err)
	}
	for _, text := range hostile {
		out, err := exec.CommandContext(t.Context(), sh, "-c", "printf %s "+Quoted(text)).Output()
		if err != nil || string(out) != text {
			t.Errorf("%q as a word is %q (%v)", text, out, err)
		}
		out, err = exec.CommandContext(t.Context(), sh, "-c", HereDocument("cat", text)).Output()
		if want := strings.TrimSuffix(text, "\n") + "\n"; err != nil || string(out) != want {
			t.Errorf("%q as a document is %q (%v)", text, out, err)
		}
	}
}

// TestUntemplated leaves the document as it is, and no template in it.
func TestUntemplated(t *testing.T) {
	for _, text := range hostile {
		v := document.ObjectValue(document.Member{Name: "{{" + text, Value: document.ObjectValue(document.Member{Name: text, Value: document.StringValue(text)})})
		safe := Untemplated(string(v.JSON()))
		again, err := document.Parse([]byte(safe))
		if err != nil || !again.Equal(v) || strings.Contains(safe, "{{") {
			t.Errorf("%s became %s (%v)", v.JSON(), safe, err)
		}
	}
}
