package actiontest

import (
	"encoding/json"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler"
)

// Refusal is an action that a reader refuses.
type Refusal struct {
	Action   string   // JSON with its type
	Problems []string // "path: message", in the order of the reader
}

// repeated stands for a letter that is repeated: @3 for aaa, é@3 for ééé.
var repeated = regexp.MustCompile(`(é?)@(\d+)`)

// Refusals reads a table of refusals. Each has the action on a line, and below it its problems, indented.
func Refusals(tb testing.TB, file string) (all []Refusal) {
	tb.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		text := strings.TrimSpace(line)
		switch {
		case text == "" || text[0] == '#':
		case line[0] == ' ':
			last := &all[len(all)-1]
			last.Problems = append(last.Problems, text)
		default:
			all = append(all, Refusal{Action: repeated.ReplaceAllStringFunc(text, repeat)})
		}
	}
	return all
}

func repeat(text string) string {
	letter, number, _ := strings.Cut(text, "@")
	if letter == "" {
		letter = "a"
	}
	n, _ := strconv.Atoi(number)
	return strings.Repeat(letter, n)
}

// CheckRefusals checks that a reader refuses the actions of the table testdata/refused.txt. The APIs are tested with the tables
// of all types.
func CheckRefusals(t *testing.T, reader scheduler.ActionReader) {
	t.Helper()
	for _, refusal := range Refusals(t, "testdata/refused.txt") {
		var typed struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal([]byte(refusal.Action), &typed); err != nil {
			t.Fatalf("%s: %v", refusal.Action, err)
		}
		action, _, err := Read(t, reader, typed.Type, refusal.Action)
		if err == nil || action != nil {
			t.Errorf("%s: got %v, %v, want no action and an error", refusal.Action, action, err)
			continue
		}
		if diff := cmp.Diff(refusal.Problems, strings.Split(err.Error(), "\n")); diff != "" {
			t.Errorf("%s\n%s", refusal.Action, diff)
		}
		for _, secret := range []string{"s3cret", "planted"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: a secret is shown: %v", refusal.Action, err)
			}
		}
	}
}
