package terminal

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestHarmless shows what jobs and targets say: a terminal has nothing to obey in it.
func TestHarmless(t *testing.T) {
	for text, want := range map[string]string{
		"plain, tüchtig 😀\tand\nlines\r\n": "plain, tüchtig 😀\tand\nlines\r\n",
		"\x1b]0;title\x07\x1b[2J":          `\x1b]0;title\a\x1b[2J`,
		"a\u009b2Jb\x7f\x00":               `a\u009b2Jb\x7f\x00`,
		"over\rwritten":                    `over\rwritten`,
		"\u202egnp.exe":                    `\u202egnp.exe`,
		"\x9b2J":                           `\x9b2J`,
		"\x1b[31mred\x1b[0m":               `\x1b[31mred\x1b[0m`,
	} {
		var out, complaints bytes.Buffer
		term := &Terminal{Out: &out, Err: &complaints}
		term.Printf("%s", text)
		if out.String() != want {
			t.Errorf("%q: got %q, want %q", text, out.String(), want)
		}
		term.Complain("error", text)
		if got := complaints.String(); got != "carillon: error: "+want+"\n" {
			t.Errorf("%q: complained %q", text, got)
		}
	}
}

// TestHarmlessColours leaves the terminal's own colours, and none but these.
func TestHarmlessColours(t *testing.T) {
	var out bytes.Buffer
	term := &Terminal{Out: &out, Colour: true}
	term.Printf("%s %s", term.Paint(Red, "failed"), "\x1b[8mhidden\x1b[5;1H")
	if got, want := out.String(), "\x1b[31mfailed\x1b[0m "+`\x1b[8mhidden\x1b[5;1H`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestHarmlessTable keeps a cell in its row.
func TestHarmlessTable(t *testing.T) {
	var out bytes.Buffer
	term := &Terminal{Out: &out}
	must.Do(t, term.Table([]string{"JOB", "LABELS"}, [][]string{{"a", "x=\x1b[2J\nb\ty"}}))
	if got, want := out.String(), "JOB   LABELS\na     x=\\x1b[2J b y\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestHarmlessJSON escapes what JSON may have as it is.
func TestHarmlessJSON(t *testing.T) {
	const text = "\x1b\u009b2J\x7f\u202e<é😀>"
	var out bytes.Buffer
	term := &Terminal{Out: &out}
	must.Do(t, term.PrintJSON(text))
	if got, want := out.String(), `"\u001b\u009b2J\u007f\u202e<é😀>"`+"\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var back string
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back != text {
		t.Errorf("read back %q, %v", back, err)
	}
}
