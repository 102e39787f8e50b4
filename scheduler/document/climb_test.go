package document_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/internal/climb"
)

// What a document may cost that an API takes, refused or not.
const (
	mostBytes     = 16 << 10
	mostProcessor = 50 * time.Millisecond
	mostAllocated = 32 << 20
)

// hostile is documents that cost some reader of documents more than they weigh.
func hostile() []string {
	times := func(s string) string { return strings.Repeat(s, mostBytes/len(s)) }
	var names, flow, array strings.Builder
	for i := range 2500 {
		fmt.Fprintf(&names, "a%d: 1\n", i)
		fmt.Fprintf(&flow, "a%d,", i)
		fmt.Fprintf(&array, "{\"x%d\":1},", i)
	}
	var indented strings.Builder
	for i := range 170 {
		indented.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	var anchors strings.Builder
	anchors.WriteString("a: &a [x, x]\n")
	for c := 'b'; c < 'z'; c++ {
		fmt.Fprintf(&anchors, "%c: &%c [*%c, *%c]\n", c, c, c-1, c-1)
	}
	return []string{
		sampleJob, "a: " + times("["), "a: " + times("{"), times("- "), times("? "), "a" + times(": "), "a: |" + times("\n"), "a: >" + times("\r"),
		"a: >\n" + times(" x\n\n"), "a: [" + times("a,") + "]", "{a: [" + times("[],") + "]}", names.String(), "a: {" + flow.String() + "}",
		times("- a\n"), "a:\n" + times("- #\n") + "  b: c\n", "a: 1\n" + times("#\n"), times("# a\n\n"), times("  #\n"), "a: \"" + times("\\x41") + "\"",
		"a: \"" + times("\n"), "a: '" + times("''") + "'", "a: b\n" + times(" b\n"), "a: " + times("9"), "a: 1." + times("9"), "a: 1e" + times("9"),
		"a: " + times("&a "), times("- &a b\n"), times("- !a b\n"), times("---\na\n"), times("---\n"), times("a\n...\n"), times("%a\n"), times("%TAG ! b\n"),
		indented.String(), anchors.String(), "a: &a " + strings.Repeat("x", 8000) + "\nb: [" + strings.Repeat("*a,", 2600) + "]", "a:" + times("\t"),
		"a: \"" + times("\u2028") + "\"", times("é: \n"), times("\"a\" "), "{" + times(`"a":1,`), times("["), `{"a":` + times("["),
		"[" + array.String() + "1]", `{"a":"` + times(`\u0041`) + `"}`, `{"recurence":` + times(`{"recurence":`), `[` + times(`1e9,`) + "1]",
		`{"list":[` + times(`{},`) + `1]}`, `{"list":[` + times(`{"x":1},`) + `{}]}`, `{"` + strings.Repeat("n", 8000) + `":[` + strings.Repeat(`{"x":1},`, 1000) + `1]}`,
		`{"labels":{` + strings.ReplaceAll(flow.String(), ",", `":1,"`) + `":1}}`,
	}
}

// climbTokens is what documents are made of.
var climbTokens = []string{
	"a", "b", "a: ", "- ", "? ", ": ", ":", ",", "[", "]", "{", "}", "\n", "\n\n", "\r", "\r\n", "\t", " ", "  ", "\n  ", "\n    - ", "#", " # ", "|", ">",
	"|2+\n", "|-\n", ">-\n", "\"", "'", "''", "\\", "\\n", "\\u0041", "\\U0001F600", "&a ", "*a", "*a, ", "&b [", "!t ", "!!str ", "!<x> ", "%YAML 1.2\n", "---\n",
	"--- ", "...\n", "<<: ", "~", "null", "true", "0x1F", "010", "1.5", "1e5", "-", "+", ".inf", "1_0", "é", "\u2028", "\U000F0000", "`", "@", `"a":`, `"list":[`,
	`{"type":1},`, `"labels":{`, `[],`, `{},`, `"x":1,`, "1,", `//`, "/*", "*/",
}

// readAll parses a document, reads what may be in it as jobs are read, and writes what came of it.
func readAll(text string) {
	v, err := document.Parse([]byte(text))
	if err != nil {
		_ = err.Error()
		return
	}
	r := document.NewReader()
	r.Knows("", func() *document.Shape { return document.ShapeOf(readSome) })
	readSome(r.Object(v, ""))
	if err := r.Err(); err != nil {
		_ = err.Error()
	}
	_ = v.JSON()
	_ = v.YAML()
}

func readSome(o *document.Object) {
	o.String("text")
	o.Enum("type", "one", "two", "three")
	o.Ints("ints", 0, 59)
	o.Enums("days", "monday", "tuesday")
	o.Duration("timeout")
	o.Time("startTime")
	o.StringMap("labels")
	if list, ok := o.Objects("list"); ok {
		for _, inner := range list {
			inner.Require("type")
			inner.Int("occurrence", -4, 4)
			inner.Done()
		}
	}
	if inner, ok := o.Object("recurrence"); ok {
		inner.String("frequency")
		inner.Object("schedule")
		inner.Done()
	}
	o.Done()
}

// TestClimbDocuments climbs towards the documents that cost most, and shows what the costliest cost.
func TestClimbDocuments(t *testing.T) {
	seeds := hostile()
	for i, s := range seeds {
		seeds[i] = s[:min(len(s), mostBytes)]
	}
	worst := climb.Climb[string]{
		Seeds: seeds, Mutate: climb.Text{Tokens: climbTokens, Most: mostBytes}.Mutate, Do: readAll,
	}.Run(t)
	worst.Check(t, mostProcessor, mostAllocated)
}
