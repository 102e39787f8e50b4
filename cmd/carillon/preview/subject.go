package preview

import (
	"cmp"
	"context"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/jobfile"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// subject is the subject of a preview.
type subject struct {
	timing spec.Timing
	text   string // of the rule; empty if it has none
	where  string // prefix of problems with the rule: its position in the file and in the document, or empty

	source jobfile.Source // of the document, if any

	name    string // the job's, empty if it has none
	job     bool   // the document is a whole job, which starts as it says and not otherwise
	dsari   bool   // hashes are made from the name
	assumed bool   // the schedule counts from now, for want of a start

	paused time.Time // end of the pause; zero: not paused

	notes []string // assumptions
}

// hashName replaces the name of an unnamed job.
const hashName = "job"

// subject reads the expression or the file.
func (c Command) subject(ctx context.Context, t *terminal.Terminal) (*subject, []fault) {
	switch {
	case len(c.Expression) > 0 && c.File != "":
		return nil, []fault{misuse("an expression and --file exclude each other", "")}
	case len(c.Expression) > 1:
		return nil, []fault{misuse("the expression is several words",
			"put it in single quotes, so that the shell leaves it alone: carillon preview '0 9 * * 1-5'")}
	case c.File != "":
		return c.file(ctx, t)
	case len(c.Expression) == 0:
		return nil, []fault{misuse("the expression is missing", `run "carillon preview --help" for examples of every language`)}
	}
	text := c.Expression[0]
	s, faults := c.read(t, "", text)
	if len(faults) > 0 && isFile(text) {
		c.File = text
		return c.file(ctx, t)
	}
	return s, faults
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// file reads the subject from a file.
func (c Command) file(ctx context.Context, t *terminal.Terminal) (*subject, []fault) {
	data, err := jobfile.Load(c.File, t.Input(ctx))
	switch {
	case c.File != jobfile.Stdin && err != nil:
		return nil, []fault{misuse(c.File+": "+terminal.WithoutPath(err).Error(), "")}
	case err != nil:
		return nil, []fault{{text: "standard input: " + terminal.WithoutPath(err).Error(), cause: err}}
	case c.File == jobfile.Stdin:
		return c.read(t, "", string(data))
	}
	return c.read(t, c.File, string(data))
}

// read reads the subject from a text. file is where it comes from; empty if it was typed or piped.
func (c Command) read(t *terminal.Terminal, file, text string) (*subject, []fault) {
	if isDocument(file, text) {
		return c.document(t, file, text)
	}
	s := &subject{text: text}
	if file != "" {
		s.where = file + ": "
	}
	dialect, parse := languageOf(text, spec.Dialect(c.Dialect))
	rule, err := parse(text, dialect)
	if err != nil {
		return nil, faultsOf(s.where, text, err)
	}
	s.dsari = dialect == spec.Dsari
	s.timing.Recurrence = &spec.Recurrence{Rule: rule, Anchor: spec.DefaultAnchor(rule)}
	return s, nil
}

// asDocument and asRRule are how texts begin that are not cron.
var (
	asDocument = regexp.MustCompile(`^\s*(?:#.*\n\s*)*(?:\{|\[|---|["']?[A-Za-z]\w*["']?\s*:(?:\s|$))`)
	asRRule    = regexp.MustCompile(`(?i)^\s*(?:DTSTART|RRULE:|EXRULE:|RDATE|EXDATE|BEGIN:|(?:FREQ|INTERVAL|COUNT|UNTIL|WKST|BY[A-Z]+)=)`)
	asRandom   = regexp.MustCompile(`(?:^|[\s,])R(?:$|[\s,/(])`) // in dsari's cron
	asStart    = regexp.MustCompile(`(?i)^\s*DTSTART`)
)

// isDocument reports whether a text is JSON or YAML.
func isDocument(file, text string) bool {
	return jobfile.HasName(file) || asDocument.MatchString(text) && !asStart.MatchString(text)
}

// languageOf returns the dialect of an expression and what parses it.
func languageOf(text string, asked spec.Dialect) (spec.Dialect, func(string, spec.Dialect) (spec.Rule, error)) {
	switch isRRule := asRRule.MatchString(text); {
	case asked == spec.RFC5545, asked == spec.AWX:
		return asked, spec.ParseRRule
	case isRRule && asked == spec.Dsari:
		return asked, spec.ParseRRule
	case isRRule && asked == "":
		return spec.RFC5545, spec.ParseRRule
	}
	return cmp.Or(asked, spec.Obsidian), spec.ParseCron
}

// take applies the flags, which override the document, and assumes the rest.
func (s *subject) take(f flags) {
	timing := &s.timing
	s.name = cmp.Or(f.name, s.name)
	timing.Name = s.name
	if f.zone != nil {
		timing.Zone = f.zone
	}
	if !f.start.IsZero() {
		timing.Start = f.start
	}
	timing.DST = f.dst.Or(timing.DST.Gap, timing.DST.Overlap)
	if timing.Recurrence != nil && !f.end.IsZero() {
		timing.Recurrence.End = f.end
	}
	if s.dsari && s.name == "" {
		timing.Name = hashName
		s.notes = append(s.notes, `the hash is that of the name "`+hashName+`"; --name gives the job's own`)
	}
	if s.dsari && asRandom.MatchString(s.text) {
		s.notes = append(s.notes, "R was drawn for this preview; a job draws its own")
	}
	if timing.Start.IsZero() && timing.Recurrence != nil {
		s.begin(f.now)
	}
}

// begin assumes a start where the schedule counts from it and has none.
func (s *subject) begin(now time.Time) {
	start := roundUp(now, time.Minute)
	switch rule := s.timing.Recurrence.Rule.(type) {
	case nil:
		s.assume("no startTime: counted from the creation of the job, here " + moment(now))
	case *spec.Recur:
		switch {
		case len(strings.Fields(s.text)) > 3: // a separate date and time
		case s.job:
			s.assume("counted from the creation of the job, here " + moment(now))
		default:
			s.timing.Start = start
			s.assume("counted from " + moment(start) + ", now in whole minutes; --start says otherwise")
		}
	default:
		if s.job || !needsStart(rule, s.context(now), start) {
			return
		}
		s.timing.Start = start
		s.assume("no DTSTART: counted from " + moment(start) + ", now in whole minutes; --start says otherwise; a job needs one of both")
	}
}

// assume notes where the schedule counts from.
func (s *subject) assume(note string) { s.assumed, s.notes = true, append(s.notes, note) }

// needsStart reports whether a rule is without meaning until it has a start.
func needsStart(rule spec.Rule, s spec.Context, start time.Time) bool {
	if _, err := rule.Compile(s); err == nil {
		return false
	}
	s.Start = start
	_, err := rule.Compile(s)
	return err == nil
}

// context returns the context of a rule.
func (s *subject) context(now time.Time) spec.Context {
	t := s.timing
	return spec.Context{Name: t.Name, Zone: t.Zone, DST: t.DST, Start: t.Start, Created: now, End: t.Recurrence.End}
}

// plan computes the plan of the job as if it were created now.
func (s *subject) plan(now time.Time) (*spec.Plan, []fault) {
	if r := s.timing.Recurrence; r != nil && r.Rule != nil && s.text != "" {
		if _, err := r.Rule.Compile(s.context(now)); err != nil {
			return nil, faultsOf(s.where, s.text, err)
		}
	}
	plan, err := spec.NewPlan(s.timing, now)
	if err != nil {
		return nil, faultsOf(s.where, "", err)
	}
	return plan, nil
}

// strict returns the plan without runs at times that the clock skips. A run that only the plan contains was
// moved.
func (s *subject) strict(now time.Time) *spec.Plan {
	timing := s.timing
	timing.DST.Gap = spec.GapSkip
	plan, err := spec.NewPlan(timing, now)
	if err != nil {
		return nil
	}
	return plan
}
