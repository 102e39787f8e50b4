package load

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/look"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/forecast"
)

// namedMost limits the named jobs of an hour.
const namedMost = 8

// where selects the content of the calendar, as in the URL.
type where struct {
	Collection string
	Job        string // in the collection, or the default one
	Zone       string // "": the browser's
	Week       bool
	Date       string // 2026-03-29; "": today

	Range *frame.TimeRange // whose first day or week is shown if Date is empty

	zone *time.Location
	noon time.Time // of the date
	now  time.Time
}

// calendarShown is the content of the page.
type calendarShown struct {
	where

	Collections []string
	Zones       []string
	ZoneName    string
	Feed        string // the URL of the upcoming runs for calendar programs
	Agenda      agenda
}

// agenda is the part of the page that depends on the selection.
type agenda struct {
	counting

	Title   string
	Week    bool
	Problem *frame.Problem
	Address string
	Wait    string

	Earlier, Later, Today, Other string // URLs
	Made                         time.Time
	Days                         []dayShown
	Rows                         []weekRow // of a week
	Runs                         int
	Throughout                   hourShown // jobs that run in most hours
	Planned                      bool      // part of it is in the future
	Past                         bool      // part of it is in the past
	ReadTo                       time.Time // earliest part of the history that was read; zero: all
	Live                         string    // the URL of the past attempts
}

// dayShown is a day.
type dayShown struct {
	Name, Short string
	Link        string
	Today       bool
	Shift       string // DST change of the day; "": none
	Hours       []hourShown
	Runs        int
}

// hourShown is an hour of a day.
type hourShown struct {
	ID, Label string
	Title     string
	Past, Now bool
	Still     bool // several past hours without runs
	Unread    bool // the history of this hour was not read
	Level     int
	Runs      int // planned runs
	Jobs      int
	Some      []entry
	More      int // jobs that are not named
	MoreRuns  int

	Ran, Failed, Skipped int // past runs
}

// entry is a job in an hour.
type entry struct {
	Job    string
	At     string
	Times  int
	Failed int
}

// weekRow is an hour of the clock on all days of a week.
type weekRow struct {
	Label string
	Cells []weekCell
}

// weekCell is such an hour on one day; a repeated hour of a DST change has two.
type weekCell struct {
	Today bool
	Hours []*hourShown
	Link  string
}

func (r section) calendar(c *frame.Request) error {
	s := calendarShown{Zones: zones}
	w, err := readWhere(c, r.service.Now())
	s.where, s.ZoneName = w, w.zone.String()
	s.Feed = feedOf(c, w.key())
	if err == nil {
		s.Agenda, err = r.agenda(c, &w)
	}
	var status int
	if s.Agenda.Problem, status, err = c.Inside(err); err != nil {
		return err
	}
	if s.Collections, err = c.Collections(r.service, auth.Read); err != nil {
		return err
	}
	return c.Show(&frame.Page{
		Status: status, Title: c.Text("calendar.title"), Template: calendarPage, Fragment: "agenda", Data: &s, Range: w.Range,
		Scripts: []string{"load/load.js"}, Styles: []string{"load/load.css"},
	})
}

// readWhere parses the URL.
func readWhere(c *frame.Request, now time.Time) (w where, err error) {
	w = where{
		Collection: c.Query("collection"), Job: c.Query("job"), Zone: c.Query("zone"), Week: c.Choice("view", "day", "week") == "week",
		Date: c.Query("date"), zone: c.Zone(), now: now,
	}
	if w.Zone != "" {
		zone, err := time.LoadLocation(w.Zone)
		if err != nil || w.Zone == "Local" || len(w.Zone) > 64 {
			return w, wrong(c.Text("calendar.zone.wrong", w.Zone), c.Text("calendar.zone.hint"))
		}
		w.zone = zone
	}
	w.now = w.now.In(w.zone)
	w.noon = w.now
	if w.Range, err = c.TimeRange(now, ""); err != nil {
		return w, err
	}
	if !w.Range.From.IsZero() && w.Date == "" {
		w.noon, w.Week = w.Range.From.In(w.zone), w.Week || w.Range.To.Sub(w.Range.From) > 24*time.Hour
		w.Date = w.noon.Format(dateForm)
	}
	if w.Date != "" {
		if w.noon, err = time.ParseInLocation("2006-01-02 15", w.Date+" 12", w.zone); err != nil {
			return w, wrong(c.Text("calendar.date.wrong", w.Date), c.Text("calendar.date.hint"))
		}
	}
	if s := w.span(); w.Date != "" && s.begin().Before(w.now) { // for the menu
		w.Range.Since, w.Range.Until = s.begin().UTC().Format(time.RFC3339), s.end().UTC().Format(time.RFC3339)
	}
	if k := w.key(); k.Collection != "" {
		err = auth.Check(c.Context(), auth.Read, k.Collection)
	}
	return w, err
}

// wrong returns the problem of a URL.
func wrong(text, hint string) error {
	return frame.Problem{Status: http.StatusBadRequest, Text: text, Hint: hint}
}

// key returns the selected job or collection.
func (w *where) key() scheduler.Key { return scheduler.KeyIn(w.Collection, w.Job) }

// address returns the URL of the page; date "" is today.
func (w *where) address(date string, week bool, pairs ...string) string {
	view := ""
	if week {
		view = "week"
	}
	all := append([]string{"collection", w.Collection, "job", w.Job, "zone", w.Zone, "date", date, "view", view}, pairs...)
	return frame.Address(calendarPath, nil, all...)
}

// span returns the selected hours.
func (w *where) span() span {
	if w.Week {
		return weekOf(w.noon)
	}
	return span{dayOf(w.noon)}
}

const dateForm = "2006-01-02"

// agenda returns the content of the page, or the progress of its computation.
func (r section) agenda(c *frame.Request, w *where) (a agenda, err error) {
	s := w.span()
	step := 1
	if w.Week {
		step = 7
	}
	a = agenda{
		Week: w.Week, Address: w.address(w.Date, w.Week), Wait: w.address(w.Date, w.Week, "wait", "true"),
		Earlier: w.address(w.noon.AddDate(0, 0, -step).Format(dateForm), w.Week),
		Later:   w.address(w.noon.AddDate(0, 0, step).Format(dateForm), w.Week),
		Today:   w.address("", w.Week), Other: w.address(w.Date, !w.Week),
		Past: s.begin().Before(w.now), Planned: s.end().After(w.now),
	}
	a.Title = words.Date(s[0].Date, words.Text("date.weekday"))
	if w.Week {
		_, number := s[3].Date.ISOWeek()
		a.Title = words.Date(s[0].Date, words.Text("date.day-long")) + " – " +
			words.Date(s[6].Date, words.Text("date.long")) + " · " +
			c.Text("calendar.week.number", number)
	}
	one, err := r.counted(c, w, s)
	if err != nil {
		return a, err
	}
	if one, a.counting, err = settled(c, one); err != nil || one == nil {
		return a, err
	}
	n := one.Value
	a.Made, a.ReadTo = one.Ended, n.back
	if a.Past {
		a.Live = liveAddress(w, s.begin(), s.end())
	}
	a.Throughout.plan(w, &n.planned.Throughout)
	for i := range a.Throughout.Some {
		a.Throughout.Some[i].At = ""
	}
	a.fill(w, s, n.planned.Slots, n.past)
	return a, nil
}

// counted has the planned and past runs of a span.
type counted struct {
	planned *control.Agenda
	past    []ranHour // nil: the span is in the future
	back    time.Time // runs before this were not read; zero: all were read
}

// counted returns the counts, from a running or a recent computation if possible.
func (r section) counted(c *frame.Request, w *where, s span) (*look.Look[*counted], error) {
	sees, whose, err := c.Seen(r.service)
	if err != nil {
		return nil, err
	}
	k, at := w.key(), s.instants()
	key := strings.Join([]string{k.String(), at[0].UTC().String(), strconv.Itoa(len(at)), w.zone.String(), whose}, " ")
	asked := *w
	return r.agendas.At(c, key, func(ctx context.Context, report func(int)) (n *counted, err error) {
		n = &counted{planned: &control.Agenda{Slots: make([]forecast.Slot, len(at)-1)}}
		if s.end().After(asked.now) {
			q := control.AgendaQuery{Key: k, At: at, Named: namedMost, Sees: sees, Counted: report}
			if n.planned, err = r.service.Agenda(ctx, q); err != nil {
				return nil, err
			}
		}
		if s.begin().Before(asked.now) {
			if n.past, n.back, err = r.ran(ctx, &asked, s); err != nil {
				return nil, err
			}
		}
		return n, nil
	}), nil
}

// fill builds the days from planned and past runs. past may be nil.
func (a *agenda) fill(w *where, s span, slots []forecast.Slot, past []ranHour) {
	peak := 0
	for i := range slots {
		peak = max(peak, slots[i].Runs)
	}
	for i := range past {
		peak = max(peak, past[i].ran)
	}
	at := 0
	for i := range s {
		d := &s[i]
		shown := dayShown{
			Name:  words.Date(d.Date, "Monday, "+words.Text("date.day-long")),
			Short: words.Date(d.Date, words.Text("date.weekday-short")),
			Link:  w.address(d.Date.Format(dateForm), false), Today: d.Date.Format(dateForm) == w.now.Format(dateForm),
		}
		if d.Shift != 0 {
			shown.Shift = frame.Took(d.Shift.Abs())
			if d.Shift < 0 {
				shown.Shift = "−" + shown.Shift
			}
		}
		for h := range len(d.At) - 1 {
			hour := hourOf(w, d, h, &slots[at])
			if past != nil {
				hour.take(&past[at])
			}
			hour.Unread = !a.ReadTo.IsZero() && !d.At[h+1].After(a.ReadTo) && hour.Past
			hour.Title = words.Text("calendar.cell", shown.Short+" "+hour.Label, words.Count("load.count.jobs", hour.Jobs))
			hour.Level = level(hour.Runs+hour.Ran, peak)
			shown.Runs += hour.Runs + hour.Ran
			shown.Hours = append(shown.Hours, hour)
			at++
		}
		a.Runs += shown.Runs
		if !a.Week {
			shown.Hours = together(shown.Hours)
		}
		a.Days = append(a.Days, shown)
	}
	if a.Week {
		a.Rows = weekRows(a.Days)
	}
}

// stillLeast is the minimum number of consecutive idle hours that are shown as one.
const stillLeast = 3

// together merges idle past hours.
func together(hours []hourShown) (all []hourShown) {
	for i := 0; i < len(hours); {
		end := i
		for end < len(hours) && hours[end].isStill() {
			end++
		}
		if end-i >= stillLeast {
			until := "24:00"
			if end < len(hours) {
				until = hours[end].Label
			}
			all = append(all, hourShown{Label: hours[i].Label + " – " + until, Past: true, Still: true})
			i = end
			continue
		}
		all = append(all, hours[i])
		i++
	}
	return all
}

// isStill reports whether an hour is in the past and is known to be idle.
func (h *hourShown) isStill() bool {
	return h.Past && !h.Unread && h.Runs+h.Ran+h.Skipped+h.Failed == 0
}

// hourOf returns an hour of a day.
func hourOf(w *where, d *day, i int, s *forecast.Slot) hourShown {
	from, to := d.At[i], d.At[i+1]
	h := hourShown{
		ID: "h" + from.Format("1504"), Label: d.hourLabel(i), Past: !to.After(w.now), Now: !from.After(w.now) && to.After(w.now),
	}
	h.plan(w, s)
	if d.Shift != 0 {
		h.ID += from.Format("Z0700")
	}
	return h
}

// plan adds the planned runs.
func (h *hourShown) plan(w *where, s *forecast.Slot) {
	h.Runs, h.Jobs, h.MoreRuns, h.More = s.Runs, s.Jobs, s.Runs, s.Jobs-len(s.Some)
	for _, j := range s.Some {
		h.Some = append(h.Some, entry{Job: j.Key.String(), At: j.First.In(w.zone).Format("15:04"), Times: j.Runs})
		h.MoreRuns -= j.Runs
	}
}

// weekRows aligns the hours of the days by their clock times.
func weekRows(days []dayShown) []weekRow {
	rows := make([]weekRow, 24)
	for hour := range rows {
		rows[hour].Label = fmt.Sprintf("%02d:00", hour)
		for i := range days {
			cell := weekCell{Today: days[i].Today}
			for j := range days[i].Hours {
				if h := &days[i].Hours[j]; strings.HasPrefix(h.Label, rows[hour].Label[:3]) {
					cell.Hours = append(cell.Hours, h)
					cell.Link = cmp.Or(cell.Link, days[i].Link+"#"+h.ID)
				}
			}
			rows[hour].Cells = append(rows[hour].Cells, cell)
		}
	}
	return rows
}

// feedOf returns the URL of the upcoming runs for calendar programs.
func feedOf(c *frame.Request, k scheduler.Key) string {
	path := "/runs.ics"
	switch {
	case k.Job != "":
		path = "/jobCollections/" + url.PathEscape(k.Collection) + "/jobs/" + url.PathEscape(k.Job) + path
	case k.Collection != "":
		path = "/jobCollections/" + url.PathEscape(k.Collection) + path
	}
	return c.Server() + path
}
