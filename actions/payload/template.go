package payload

import (
	"errors"
	"fmt"
	"regexp"
	"sort"
	"strings"
	"text/template/parse"
	"time"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/scheduler"
)

// The bounds of a template. There are no loops, so each part of it runs once at most, and these bound all the rest.
const (
	maxTemplate = 64 << 10 // bytes of a template
	maxOutput   = 64 << 10 // bytes of what one makes
	maxValue    = 64 << 10 // bytes of any text on the way
	maxWork     = 1 << 20  // bytes that all functions of one rendering read and write
)

// template is a parsed template that was rendered once without error. It is immutable.
type template struct {
	text string
	root *parse.ListNode
}

// newTemplate parses text and looks at every part of it. The error names line and column.
func newTemplate(text string) (*template, error) {
	if len(text) > maxTemplate {
		return nil, fmt.Errorf("is a template of %d bytes, at most %d are allowed", len(text), maxTemplate)
	}
	root, err := parseTemplate(text)
	if err != nil {
		return nil, syntaxError(text, err)
	}
	t := &template{text: text, root: root}
	run := run{attempt: &laterSample, all: true}
	if err := run.list(whole{}, root); err != nil {
		return nil, t.explain(err)
	}
	if _, err := t.render(firstSample); err != nil {
		return nil, fmt.Errorf("cannot be rendered at a job's first occurrence, before which nothing ran: %w", err)
	}
	return t, nil
}

// The attempts that a template is tried with: a job's first one, and one that has all there can be.
var (
	firstSample = scheduler.Attempt{
		Job:        scheduler.Key{Collection: "default", Job: "sample"},
		Occurrence: "default/sample@2031-11-23T09:48:57Z",
		ID:         "default/sample@2031-11-23T09:48:57Z#1",
		Nominal:    time.Date(2031, 11, 23, 9, 48, 57, 0, time.UTC),
		Due:        time.Date(2031, 11, 23, 9, 48, 57, 0, time.UTC),
		Try:        1,
		Key:        "default/sample@2031-11-23T09:48:57Z",
		Timeout:    time.Minute,
	}
	laterSample = func() scheduler.Attempt {
		a := firstSample
		a.Try, a.Phase, a.Key = 6, scheduler.ErrorPhase, a.Key+"/error"
		a.ID = a.Occurrence + "#6"
		a.Due = a.Due.Add(2*time.Minute + 123456789)
		a.Previous = a.Nominal.AddDate(0, 0, -1)
		a.Failure = &scheduler.Failure{Status: 503, Attempts: 5, Message: "Http Action - Response from host 'x': 'Service Unavailable'"}
		return a
	}()
)

// render returns what the template makes for an attempt.
func (t *template) render(a scheduler.Attempt) (string, error) {
	run := run{attempt: &a, out: make([]byte, 0, len(t.text)+256)}
	if err := run.list(whole{}, t.root); err != nil {
		return "", t.explain(err)
	}
	if !utf8.Valid(run.out) {
		return "", errors.New("makes text that is not valid UTF-8")
	}
	return string(run.out), nil
}

// fault is an error at a place of a template.
type fault struct {
	pos parse.Pos
	err error
}

func (f fault) Error() string { return f.err.Error() }

// explain puts the place before an error.
func (t *template) explain(err error) error {
	if f, ok := errors.AsType[fault](err); ok {
		return fmt.Errorf("%s: %s", position(t.text, int(f.pos)), short(f.err.Error()))
	}
	return err
}

// maxComplaint is the length in bytes at which a message, which may quote the template, is cut.
const maxComplaint = 400

func short(message string) string {
	if len(message) <= maxComplaint {
		return message
	}
	return strings.ToValidUTF8(message[:maxComplaint], "") + "…"
}

// parseTemplate parses a text. Which functions there are is looked at later, where the place of one is known.
func parseTemplate(text string) (*parse.ListNode, error) {
	t := parse.New("template")
	t.Mode = parse.SkipFuncCheck
	tree, err := t.Parse(text, "", "", map[string]*parse.Tree{})
	if err != nil {
		return nil, err
	}
	return tree.Root, nil
}

// syntaxError says where a text cannot be parsed, and why. The parser's errors name a line only; the column is found by
// parsing beginnings of the text: the shortest one with the same error ends with what is wrong.
func syntaxError(text string, err error) error {
	message := complaint(err)
	switch message {
	case "unexpected EOF":
		return errors.New("the template ends inside {{if}} or {{with}}: {{end}} is missing")
	case "unclosed action", "unclosed comment", "unclosed left paren":
		at := position(text, strings.LastIndex(text, "{{"))
		return fmt.Errorf("%s: %s: }} is missing, or stands inside quotation marks", at, message)
	}
	same := func(n int) bool {
		if n < len(text) && strings.HasSuffix(text[:n], "}") {
			n++ // one bracket of two is an error of its own
		}
		_, shorter := parseTemplate(text[:n])
		return shorter != nil && shorter.Error() == err.Error()
	}
	starts := actions(text)
	wrong := sort.Search(len(starts), func(i int) bool { return same(starts[i]) }) // the action before this is
	start, end := 0, len(text)
	if wrong > 0 {
		start = starts[wrong-1]
	}
	if wrong < len(starts) {
		end = starts[wrong]
	}
	whole := strings.HasPrefix(message, "unterminated") || strings.HasPrefix(message, "unexpected {{")
	if !whole { // an unterminated text is that, too, where its beginning ends
		action := start
		start += sort.Search(end-start, func(n int) bool { return same(action + n) }) - 1
		for start > action && wordByte(text[start]) && wordByte(text[start-1]) {
			start--
		}
	}
	return fmt.Errorf("%s: %s", position(text, start), message)
}

// actions returns where the actions of a template begin.
func actions(text string) []int {
	var starts []int
	for i := strings.Index(text, "{{"); i >= 0; {
		starts = append(starts, i)
		next := strings.Index(text[i+2:], "{{")
		if next < 0 {
			break
		}
		i += 2 + next
	}
	return starts
}

func wordByte(c byte) bool {
	return c == '_' || c == '$' || c == '.' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= utf8.RuneSelf
}

// parserPrefix is what the parser puts before its messages.
var parserPrefix = regexp.MustCompile(`^template: template:\d+: `)

// complaint returns the message of a parser's error in its plainest words.
func complaint(err error) string {
	message := short(parserPrefix.ReplaceAllString(err.Error(), ""))
	switch {
	case strings.Contains(message, "outside {{range}}"):
		return message + ", which is not available: a template has no loops"
	case strings.Contains(message, "multiple definition"):
		return "{{define}} is not available: a template has no templates of its own"
	case message == "missing value for command":
		return "{{}} is empty: a value or a function is missing"
	}
	return message
}
