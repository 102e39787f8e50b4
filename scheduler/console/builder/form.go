package builder

import (
	"cmp"
	"embed"
	"html/template"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/jobform"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Prefix is the prefix of all field names.
const Prefix = "schedule."

// The choices of the field when. Those before choiceAzure are plain.
const (
	choiceAsked    = "asked"  // manual runs only
	choiceEvents   = "events" // events of the job's trigger only
	choiceOnce     = "once"
	choiceEvery    = "every"
	choiceDaily    = "daily"
	choiceWeekdays = "weekdays"
	choiceWeekly   = "weekly"
	choiceMonthly  = "monthly"
	choiceYearly   = "yearly"
	choiceAzure    = "azure"
	choiceCron     = "cron"
	choiceRRule    = "rrule"
)

// The choices in the order of the page.
var (
	plainChoices = []string{
		choiceEvery, choiceDaily, choiceWeekdays, choiceWeekly, choiceMonthly, choiceYearly, choiceOnce, choiceEvents, choiceAsked,
	}
	languages = []string{choiceCron, choiceRRule, choiceAzure}
)

// field is a row of the table of the form's fields. The templates, the reader and the writer of the form use it.
type field struct {
	Name  string // without [Prefix]; the path in the job's properties, unless it begins with plain, cron or rrule
	Label string // key of its label; "": it shows no problems
	Hint  string // an example of its value

	// Choices are the values of a choice. In groupMore, their labels are the texts Label.VALUE.
	Choices []string

	group string
	text  bool // the job has it as a text at the path Name
}

// The groups of fields that a template lists.
const (
	groupAzure = "azure"
	groupMore  = "more" // folded, because most jobs do not need them
)

const azureSchedule = "recurrence.schedule."

var fields = []field{
	{Name: "when", Label: "builder.when"},
	{Name: "paste", Label: "builder.paste"},
	{Name: "timeZone", Label: "builder.zone"},
	{Name: "plain.once", Label: "builder.once"},
	{Name: "plain.n", Label: "builder.every"},
	{Name: "plain.unit", Choices: plainUnits},
	{Name: "plain.times", Label: "builder.times"},
	{Name: "plain.days", Label: "builder.days", Choices: weekdays},
	{Name: "plain.day", Label: "builder.on.day.label"},
	{Name: "plain.nth", Choices: []string{"1", "2", "3", "4", "last"}},
	{Name: "plain.weekday", Choices: weekdays},
	{Name: "plain.date", Label: "builder.date"},
	{Name: "plain.month", Choices: months},
	{Name: "recurrence.cron", Label: "builder.cron"},
	{Name: "cron.dialect", Label: "builder.dialect", Choices: []string{string(spec.Obsidian), string(spec.Dsari)}},
	{Name: "recurrence.rrule", Label: "builder.rrule"},
	{Name: "rrule.dialect", Label: "builder.dialect", Choices: []string{string(spec.RFC5545), string(spec.AWX), string(spec.Dsari)}},
	{Name: "recurrence.frequency", Label: "builder.frequency", Choices: append(slices.Clone(plainUnits), "year")},
	{Name: "recurrence.interval", Label: "builder.interval"},
	{Name: "recurrence.anchor", Label: "builder.anchor", Choices: []string{"lastExecution"}},
	{Name: azureSchedule + "hours", Label: "builder.hours", Hint: "5, 17", group: groupAzure},
	{Name: azureSchedule + "minutes", Label: "builder.minutes", Hint: "0, 30", group: groupAzure},
	{Name: azureSchedule + "monthDays", Label: "builder.monthDays", Hint: "1, 15, -1", group: groupAzure},
	{Name: azureSchedule + "monthlyOccurrences", Label: "builder.occurrences", Hint: "Tuesday 2, Friday -1", group: groupAzure},
	{Name: azureSchedule + "months", Label: "builder.months", Hint: "1, 7", group: groupAzure},
	{
		Name: azureSchedule + "weekDays", Label: "builder.weekDays",
		Choices: []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"},
	},
	{Name: "startTime", Label: "builder.start", group: groupMore},
	{Name: "recurrence.endTime", Label: "builder.end", group: groupMore},
	{Name: "recurrence.count", Label: "builder.count", group: groupMore},
	{Name: "jitter", Label: "builder.jitter", Hint: "30s", group: groupMore, text: true},
	{Name: "dst.gap", Label: "builder.gap", Choices: []string{"next", "shift", "skip"}, group: groupMore, text: true},
	{Name: "dst.overlap", Label: "builder.twice", Choices: []string{"first", "both"}, group: groupMore, text: true},
	{Name: "catchUp.policy", Label: "builder.catchup", Choices: []string{"once", "all", "skip"}, group: groupMore, text: true},
	{Name: "catchUp.window", Label: "builder.window", Hint: "1h", group: groupMore, text: true},
	{Name: "overlap", Label: "builder.overlap", Choices: []string{"skip", "allow", "queue"}, group: groupMore, text: true},
}

// fieldOf returns the row of a field; an empty one for other names.
func fieldOf(name string) field {
	i := slices.IndexFunc(fields, func(d field) bool { return d.Name == name })
	if i < 0 {
		return field{}
	}
	return fields[i]
}

// IsMoment reports whether the field is a time.
func (d field) IsMoment() bool { return strings.HasSuffix(d.Name, "Time") }

// Help returns the text below the field; "" for none.
func (d field) Help() string {
	if key := d.Label + ".hint"; d.group == groupMore && words.Has(key) {
		return words.Text(key)
	}
	return ""
}

// Form holds the field values as text.
type Form struct {
	// Problems have the paths of fields: their names without [Prefix].
	Problems document.Problems

	values url.Values // by names without the prefix
}

// Group returns the fields of a group, in order.
func (f Form) Group(group string) []field { //nolint:revive // for templates
	return slices.DeleteFunc(slices.Clone(fields), func(d field) bool { return d.group != group })
}

// Choices returns the choices of a field.
func (f Form) Choices(name string) []string { return fieldOf(name).Choices }

// Typed returns the submitted form, to show it again.
func Typed(values url.Values) Form {
	f := Form{values: url.Values{}}
	for name, v := range values {
		if short, ok := strings.CutPrefix(name, Prefix); ok {
			f.values[short] = v
		}
	}
	if !slices.Contains(plainChoices, f.When()) && !slices.Contains(languages, f.When()) {
		f.set("when", choiceDaily)
	}
	return f
}

// When returns the selected choice.
func (f Form) When() string { return f.values.Get("when") }

// Value returns the value of a field.
func (f Form) Value(name string) string { return f.values.Get(name) }

// Or returns the value of a field, or a default if it is empty.
func (f Form) Or(name, otherwise string) string { return cmp.Or(f.text(name), otherwise) }

// Has reports whether a field with several values has one.
func (f Form) Has(name, value string) bool {
	return slices.ContainsFunc(f.values[name], func(v string) bool { return strings.EqualFold(v, value) })
}

// Wrong is a problem of a field. If it names a column, Here is the word in that column.
type Wrong struct {
	Text                string
	Before, Here, After string
}

// column matches a problem that begins with a column.
var column = regexp.MustCompile(`^column (\d{1,5})[,:]`)

// Wrong returns the problems of a field and of paths below it.
func (f Form) Wrong(name string) []Wrong {
	var list []Wrong
	for _, p := range f.Problems {
		if f.Place(p.Path) != name {
			continue
		}
		w := Wrong{Text: p.Message}
		if m := column.FindStringSubmatch(p.Message); m != nil && "recurrence."+f.When() == name {
			at, _ := strconv.Atoi(m[1])
			w.mark([]rune(f.text(name)), at-1)
		}
		list = append(list, w)
	}
	return list
}

// around is the length of the context on either side of a marked word.
const around = 60

// mark marks the word that begins at a position.
func (w *Wrong) mark(typed []rune, at int) {
	if at < 0 || at > len(typed) {
		return
	}
	end := at
	for end < len(typed) && !strings.ContainsRune(" \n;,", typed[end]) {
		end++
	}
	w.Before, w.Here = string(typed[max(0, at-around):at]), string(typed[at:min(end, at+around)])
	w.After = string(typed[end:min(len(typed), end+around)])
	if w.Here == "" {
		w.Here = "\u2423" // an open box: missing text
	}
}

// Moment is the value of a time field. The browser's own input accepts local times only.
type Moment struct {
	Text  string
	Local bool
}

// Moment returns the value of a time field.
func (f Form) Moment(name string) *Moment {
	text := f.text(name)
	local := slices.ContainsFunc(layouts[:2], func(layout string) bool {
		_, err := time.Parse(layout, text)
		return err == nil
	})
	return &Moment{text, local || text == ""}
}

// More reports whether one of the folded fields has a value.
func (f Form) More() bool {
	return slices.ContainsFunc(f.Group(groupMore), func(d field) bool { return f.text(d.Name) != "" || len(f.Wrong(d.Name)) > 0 })
}

// Plain returns the plain choices.
func (f Form) Plain() []string { return plainChoices }

// Languages returns the other choices.
func (f Form) Languages() []string { return languages }

// Zones returns the names of time zones as options. They are written once, because they are hundreds.
func (f Form) Zones() template.HTML { return zoneOptions() }

var zoneOptions = sync.OnceValue(func() template.HTML {
	var b strings.Builder
	for _, name := range spec.ZoneNames() {
		b.WriteString(`<option value="` + template.HTMLEscapeString(name) + `"></option>`)
	}
	return template.HTML(b.String()) //nolint:gosec // it is escaped
})

// Kept returns the hidden fields, which hold the original text of some job fields.
func (f Form) Kept() []string {
	all := []string{"was.startTime", "was.endTime", "was.timeZone", "was.dialect", "was.anchor", "was.interval", "was.weekDays"}
	return slices.DeleteFunc(all, func(name string) bool { return f.text(name) == "" })
}

var (
	weekdays = []string{"MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"}
	months   = []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}
)

// text returns the trimmed value of a field.
func (f Form) text(name string) string { return strings.TrimSpace(f.values.Get(name)) }

func (f Form) set(name string, values ...string) {
	f.values[name] = values
}

// Propose sets the zone of a schedule that has none.
func (f Form) Propose(zone string) Form {
	if f.text("timeZone") == "" {
		f.set("timeZone", zone)
	}
	return f
}

// Owns reports whether the form shows problems of a path of a job's properties.
func Owns(path string) bool {
	member, _, _ := strings.Cut(path, ".")
	return slices.Contains(members, member)
}

// Members returns the job fields that the form produces.
func Members() []string { return slices.Clone(members) }

// members are the job fields that the form produces.
var members = []string{"recurrence", "startTime", "timeZone", "dst", "jitter", "catchUp", "overlap"}

// Place returns the field that shows a problem: the field of its path or of a path above it, or the field of the plain
// choice that produced the path.
func (f Form) Place(path string) string {
	plain := slices.Contains(plainChoices, f.When())
	switch path {
	case "recurrence.interval", "recurrence.frequency":
		switch {
		case plain:
			return "plain.n"
		case f.When() != choiceAzure:
			return "recurrence." + f.When()
		}
	case "recurrence.cron":
		if plain {
			return "plain.times"
		}
	case "recurrence.dialect":
		return f.When() + ".dialect"
	case "startTime":
		if f.When() == choiceOnce {
			return "plain.once"
		}
	}
	for name := path; name != ""; name = jobform.Outer(name) {
		if fieldOf(name).Label != "" {
			return name
		}
	}
	switch f.When() {
	case choiceAzure:
		return "recurrence.frequency"
	case choiceCron, choiceRRule:
		return "recurrence." + f.When()
	}
	return "when"
}

// Label returns the label of the field that shows a problem.
func (f Form) Label(path string) string { return words.Text(fieldOf(f.Place(path)).Label) }

// Files are the templates "builder", which takes a [Form], and "outlook", which takes an [Outlook] or nil:
//
//	template.Must(frame.Templates(files, "page.html").ParseFS(builder.Files, "*.html"))
//
// A page that uses them also includes the script and the style of [Assets]. The surrounding form has the job's name in
// the field name.
//
//go:embed *.html
var Files embed.FS

//go:embed assets
var assets embed.FS

// Script and Style are the assets of a page with a builder.
const (
	Script = "builder/builder.js"
	Style  = "builder/builder.css"
)

// Path is the path at which the script requests a preview.
const Path = frame.Root + "/preview"

var page = frame.Templates(Files, "*.html")

type section struct {
	service *control.Service
}

// Section answers previews of builders. It has no menu entry.
func Section(s *control.Service) frame.Section {
	r := section{s}
	return frame.Section{Name: "builder", Right: auth.Known, Assets: assets, Routes: []frame.Route{
		frame.Post(Path, auth.Known, frame.WithShortForm(r.preview)),
	}}
}

// answered is the answer to the script: contents, and their elements.
type answered struct {
	Form    Form
	Outlook *Outlook
	Pasted  bool // the fields were replaced
	Wrongs  []wrongs
}

// wrongs are the problems of a field.
type wrongs struct {
	Name  string
	Texts []Wrong
}

// preview answers with the preview of the fields.
func (r section) preview(c *frame.Request, values url.Values) error {
	pasted := values.Get(Prefix+"paste") != ""
	s := Read(values)
	o, err := s.Look(c.Context(), r.service.Previewer, values.Get("name"), c.Zone())
	if err != nil {
		return err
	}
	a := answered{Form: s.Form, Outlook: o, Pasted: pasted && s.Form.Value("paste") == ""}
	for _, d := range fields {
		if texts := s.Form.Wrong(d.Name); d.Label != "" && len(texts) > 0 {
			a.Wrongs = append(a.Wrongs, wrongs{Prefix + d.Name, texts})
		}
	}
	return c.Show(&frame.Page{Template: page, Part: "builder-answer", Data: a})
}
