package payload

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"
	"time"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/scheduler"
)

// Limits of a template. Without loops each part runs at most once, so these limits bound the rest.
const (
	maxTemplate = 64 << 10  // bytes of a template
	maxOutput   = 512 << 10 // bytes of the output, and of an object or a list as JSON: more than a batch of events has
	maxValue    = 16 << 10  // bytes of a text that a function makes
	maxCalls    = 64        // calls in one of functions that make a text: 64 times 16 KiB are a few milliseconds
	maxParts    = 4000      // texts, values, fields and calls in one
)

// root is the name of every template, which no message shows.
const root = "t"

// compile parses and checks a template, and renders two samples with the given data. It also returns the names
// in the data that the template uses. Errors have the line and, if known, the column.
func compile(text string, given values) (t *template.Template, uses map[string]bool, err error) {
	if len(text) > maxTemplate {
		return nil, nil, fmt.Errorf("is a template of %d bytes, at most %d are allowed", len(text), maxTemplate)
	}
	tree, defined, err := parseTree(text)
	if err != nil {
		return nil, nil, syntaxError(text, err)
	}
	if uses, err = check(text, given, tree, defined); err != nil {
		return nil, nil, err
	}
	t = template.New(root).Option("missingkey=error").Funcs(functions).Funcs(template.FuncMap{memberName: member})
	t, err = t.AddParseTree(root, tree)
	if err != nil {
		return nil, nil, err
	}
	sampled := samples(given)
	if _, err := execute(t, text, sampled[1]); err != nil {
		return nil, nil, err
	}
	if _, err := execute(t, text, sampled[0]); err != nil {
		return nil, nil, fmt.Errorf("cannot be rendered in a run without an event and without a run before it: %w", err)
	}
	return t, uses, nil
}

// samples returns the data of the sample attempts. The event of the later one has all names below its data.
func samples(given values) [2]data {
	first, later := newData(firstSample, given), newData(laterSample, given)
	later.events = func() (list, error) {
		return list{values{
			"topic": "default.sample", "id": "1", "sequence": int64(1), "time": "2031-11-23T09:48:57Z", "data": absent(nil),
			"upstream": values{
				"job": "default/sample", "occurrence": laterSample.Occurrence, "outcome": "faulted", "statusCode": int64(503),
				"message": laterSample.Failure.Message, "response": `{"busy": true}`,
			},
		}}, nil
	}
	return [2]data{first, later}
}

// The sample attempts: a job's first one, and one with every field set.
var (
	firstSample = scheduler.Attempt{
		Job:        scheduler.Key{Collection: "default", Job: "sample"},
		Occurrence: "default/sample@2031-11-23T09:48:57Z",
		Nominal:    time.Date(2031, 11, 23, 9, 48, 57, 0, time.UTC),
		Due:        time.Date(2031, 11, 23, 9, 48, 57, 0, time.UTC),
		Try:        1,
		Key:        "default/sample@2031-11-23T09:48:57Z",
	}
	laterSample = func() scheduler.Attempt {
		a := firstSample
		a.Try, a.Phase, a.Key = 6, scheduler.ErrorPhase, a.Key+"/error"
		a.Due = a.Due.Add(2*time.Minute + 123456789)
		a.Previous = a.Nominal.AddDate(0, 0, -1)
		a.Failure = &scheduler.Failure{Status: 503, Attempts: 5, Message: "Http Action - Response from host 'x': 'Service Unavailable' " +
			"Response Headers: A: b\r\n Body: {\"busy\": true}\n"}
		a.Cause = &scheduler.Cause{Event: "default.sample", Key: "1", Count: 1}
		return a
	}()
)

// execute renders a template with the data of an attempt.
func execute(t *template.Template, text string, d data) (string, error) {
	var out output
	if err := t.Execute(&out, d); err != nil {
		return "", explain(text, err)
	}
	made := out.text.String()
	if !utf8.ValidString(made) {
		return "", errors.New("makes text that is not valid UTF-8")
	}
	return made, nil
}

// output collects a template's output up to the limit.
type output struct{ text strings.Builder }

func (o *output) Write(p []byte) (int, error) {
	if o.text.Len()+len(p) > maxOutput {
		return 0, fmt.Errorf("the output is longer than the allowed %d bytes", maxOutput)
	}
	return o.text.Write(p)
}

// parseTree parses a text. It returns its tree, and the trees that the text defines by name, which can include
// its own.
func parseTree(text string) (*parse.Tree, map[string]*parse.Tree, error) {
	defined := map[string]*parse.Tree{}
	tree, err := parse.New(root).Parse(text, "", "", defined, functions, builtins)
	return tree, defined, err
}

// located takes an error of package text/template apart: line, column (in bytes from 0; the parser has none), function,
// message.
var located = regexp.MustCompile(`(?s)^template: ` + root + `:(\d+):(?:(\d+):)? ` +
	`(?:executing "` + root + `" at <.*?>: )?(?:error calling (\w+))?(.*)$`)

// kinds are the types that messages of package text/template may name.
var kinds = strings.NewReplacer(
	"*payload.moment", "a time", "*payload.failure", "a failure", "payload.job", "a job", "payload.data", "the data",
	"payload.values", "an object", "payload.list", "a list", "payload.number", "a number",
	"payload.event", "an event", "payload.upstream", "an upstream occurrence", "payload.trigger", "a trigger",
	"payload.attributes", "an object", "payload.absent", "a value of an event",
)

// explain puts an error of rendering a text in plain words.
func explain(text string, err error) error {
	found := located.FindStringSubmatch(err.Error())
	if found == nil {
		return err
	}
	line, _ := strconv.Atoi(found[1])
	offset, _ := strconv.Atoi(found[2])
	for start := 0; line > 1; line-- {
		next := strings.IndexByte(text[start:], '\n') + 1
		start, offset = start+next, offset+next
	}
	message := strings.TrimPrefix(kinds.Replace(found[3]+found[4]), memberName+": ")
	if name, ok := strings.CutSuffix(message, " has arguments but cannot be invoked as function"); ok {
		message = "." + strings.TrimSpace(name) + " takes no arguments"
	}
	return mistake(text, offset, message)
}

// loop finds the words that people begin loops with, in the parser's error.
var loop = regexp.MustCompile(`^function "(?i:while|for|foreach|each|loop|until|repeat)" not defined$`)

// syntaxError rewords a parser error. The parser knows the line. To find the column, syntaxError parses prefixes
// of the text: the shortest one with the same error ends at the mistake.
func syntaxError(text string, err error) error {
	found := located.FindStringSubmatch(err.Error())
	message := found[4]
	switch {
	case strings.HasPrefix(message, "unclosed"), strings.HasPrefix(message, "unterminated"), message == "unexpected EOF":
		return fmt.Errorf("line %s: %s: an {{end}}, a }} or a quotation mark is missing", found[1], message) // anywhere
	case strings.HasSuffix(message, "not defined"):
		if loop.MatchString(message) {
			message += "; there are no loops"
			break
		}
		message += "; there are " + strings.Join(slices.Sorted(maps.Keys(functions)), ", ") + ", and, or, not, len"
	case strings.HasSuffix(message, "outside {{range}}"):
		message += ", which is not available: a template has no loops"
	}
	end := sort.Search(len(text), func(n int) bool {
		for n < len(text) && text[n] == '}' { // a single closing bracket is another error
			n++
		}
		_, _, shorter := parseTree(text[:n])
		return shorter != nil && shorter.Error() == err.Error()
	})
	return mistake(text, strings.LastIndexAny(text[:end], " \t\r\n({|")+1, message)
}

// mistake is an error at a place of a text. It may quote the text, so it is cut.
func mistake(text string, offset int, message string) error {
	const most = 400
	if len(message) > most {
		message = strings.ToValidUTF8(message[:most], "") + "…"
	}
	return fmt.Errorf("%s: %s", position(text, offset), message)
}

// data is all that a template can reach, in exported fields and methods.
type data struct {
	Occurrence, Key        string
	Attempt                int
	Nominal, Due, Previous *moment
	Job                    job
	Failure                *failure
	Trigger                trigger
	Data                   values

	events func() (list, error)
}

func newData(a scheduler.Attempt, given values) data {
	d := data{
		Data: given, Occurrence: a.Occurrence, Key: a.Key, Attempt: a.Try, Job: job{a.Job.Collection, a.Job.Job},
		Nominal: newMoment(a.Nominal), Due: newMoment(a.Due), Previous: newMoment(a.Previous),
		Trigger: newTrigger(a.Cause), events: eventsOf(a),
	}
	if a.Failure != nil {
		d.Failure = &failure{*a.Failure}
	}
	return d
}

// Events returns the events that started the run.
func (d data) Events() (list, error) { return d.events() }

// Event returns the last event, nil without one.
func (d data) Event() (event, error) {
	all, err := d.events()
	if err != nil || len(all) == 0 {
		return nil, err
	}
	last, _ := all[len(all)-1].(values)
	return event(last), nil
}

// Upstream returns the occurrence whose end started the run, nil for none.
func (d data) Upstream() (upstream, error) {
	last, err := d.Event()
	return upstream(field[values](last, "upstream")), err
}

// job is a job in a template. Its text is collection/name, "" for none.
type job struct{ Collection, Name string }

func (j job) String() string {
	if j == (job{}) {
		return ""
	}
	return j.Collection + "/" + j.Name
}

// failure is the failure that an errorAction reports. The nil failure is empty. It prints as its message.
type failure struct{ of scheduler.Failure }

func (f *failure) value() scheduler.Failure {
	if f == nil {
		return scheduler.Failure{}
	}
	return f.of
}

// Status is the target's status code; 0 when it gave none.
func (f *failure) Status() int { return f.value().Status }

// Attempts is the number of attempts of the action.
func (f *failure) Attempts() int { return f.value().Attempts }

// Message returns the last attempt's message.
func (f *failure) Message() string { return f.value().Message }

// Reason is the message without the action's type, and without the headers and the body of a response, in one line.
func (f *failure) Reason() string {
	text, _, _ := strings.Cut(f.value().Message, " Response Headers:")
	if _, reason, ok := strings.Cut(text, " Action - "); ok {
		text = reason
	}
	return strings.TrimSpace(text)
}

func (f *failure) String() string { return f.value().Message }
