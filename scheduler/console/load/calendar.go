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
	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/forecast"
	"github.com/carillon-sched/carillon/scheduler/service"
)

// namedMost is how many jobs of an hour are named.
const namedMost = 8

// where is what the calendar is asked for, as it stands in the address.
type where struct {
	Collection string
	Job        string // of the collection, or of the default one
	Zone       string // "": the browser's
	Week       bool
	Date       string // 2026-03-29; "": today

	zone *time.Location
	noon time.Time // of the date
	now  time.Time
}

// calendarShown is the page.
type calendarShown struct {
	where

	Collections []string
	Zones       []string
	ZoneName    string
	Feed        string // the address of the coming runs for calendar programs
	Agenda      agenda
}

// agenda is what changes with what is asked for.
type agenda struct {
	counting

	Title   string
	Week    bool
	Problem *frame.Problem
	Address string
	Wait    string

	Earlier, Later, Today, Other string // addresses
	Made                         time.Time
	Days                         []dayShown
	Rows                         []weekRow // of a week
	Runs                         int
	Throughout                   hourShown // jobs that run in most hours
	Planned                      bool      // something of it lies ahead
	Past                         bool      // something of it is over
	ReadTo                       time.Time // the history was read back to this; zero: to the beginning
	Live                         string    // the address of the attempts of before
}

// dayShown is a day.
type dayShown struct {
	Name, Short string
	Link        string
	Today       bool
	Shift       string // how far the clock is put forward or back; "" if it is not
	Hours       []hourShown
	Runs        int
}

// hourShown is an hour of a day.
type hourShown struct {
	ID, Label string
	Title     string
	Past, Now bool
	Still     bool // several hours without anything, which are over
	Unread    bool // the history was not read back to it
	Level     int
	Runs      int // planned
	Jobs      int
	Some      []entry
	More      int // jobs that are not named
	MoreRuns  int

	Ran, Failed, Skipped int // of before
}

// entry is a job in an hour.
type entry struct {
	Job    string
	Link   string
	At     string
	Times  int
	Failed int
}

// weekRow is an hour of the clock, on all days of a week.
type weekRow struct {
	Label string
	Cells []weekCell
}

// weekCell is one of these. An hour that is there twice has two.
type weekCell struct {
	Today bool
	Hours []*hourShown
	Link  string
}

func (r room) calendar(c *frame.Call) error {
	s := calendarShown{Zones: zones}
	w, err := readWhere(c, r.service.Now())
	s.where, s.ZoneName = w, w.zone.String()
	s.Feed = feedOf(c, w.key())
	status := http.StatusOK
	if err == nil {
		s.Agenda, err = r.agenda(c, &w)
	}
	if err != nil {
		p := c.Describe(err)
		if p.Status >= http.StatusInternalServerError && p.Status != http.StatusServiceUnavailable {
			return err
		}
		s.Agenda.Problem, status = &p, p.Status
	}
	if c.Part() {
		return c.Show(&frame.Page{Status: status, Template: calendarPage, Part: "agenda", Data: &s.Agenda})
	}
	if s.Collections, err = collectionsOf(c, r.service); err != nil {
		return err
	}
	return c.Show(&frame.Page{
		Status: status, Title: c.Say("calendar.title"), Template: calendarPage, Data: &s,
		Scripts: []string{"load/load.js"}, Styles: []string{"load/load.css"},
	})
}

// readWhere reads the address.
func readWhere(c *frame.Call, now time.Time) (w where, err error) {
	w = where{
		Collection: c.Query("collection"), Job: c.Query("job"), Zone: c.Query("zone"), Week: c.Query("view") == "week",
		Date: c.Query("date"), zone: c.Zone(), now: now,
	}
	if w.Zone != "" {
		zone, err := time.LoadLocation(w.Zone)
		if err != nil || w.Zone == "Local" || len(w.Zone) > 64 {
			return w, wrong(c.Say("calendar.zone.wrong", w.Zone), c.Say("calendar.zone.hint"))
		}
		w.zone = zone
	}
	w.now = w.now.In(w.zone)
	w.noon = w.now
	if w.Date != "" {
		if w.noon, err = time.ParseInLocation("2006-01-02 15", w.Date+" 12", w.zone); err != nil {
			return w, wrong(c.Say("calendar.date.wrong", w.Date), c.Say("calendar.date.hint"))
		}
	}
	if k := w.key(); k.Collection != "" {
		err = access.Check(c.Context(), access.Read, k.Collection)
	}
	return w, err
}

// wrong says what is wrong with an address.
func wrong(text, hint string) error {
	return frame.Problem{Status: http.StatusBadRequest, Text: text, Hint: hint}
}

// key is of what the calendar is.
func (w *where) key() scheduler.Key { return scheduler.KeyIn(w.Collection, w.Job) }

// address is where the page is; date "" is today.
func (w *where) address(date string, week bool, pairs ...string) string {
	v := url.Values{}
	view := ""
	if week {
		view = "week"
	}
	all := append([]string{"collection", w.Collection, "job", w.Job, "zone", w.Zone, "date", date, "view", view}, pairs...)
	for i := 1; i < len(all); i += 2 {
		if all[i] != "" {
			v.Set(all[i-1], all[i])
		}
	}
	if len(v) == 0 {
		return calendarPath
	}
	return calendarPath + "?" + v.Encode()
}

// span is what is asked for.
func (w *where) span() span {
	if w.Week {
		return weekOf(w.noon)
	}
	return span{[]day{dayOf(w.noon)}}
}

const dateForm = "2006-01-02"

// agenda is what the page shows, or how far it is.
func (r room) agenda(c *frame.Call, w *where) (a agenda, err error) {
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
	a.Title = s.days[0].Date.Format("Monday, 2 January 2006")
	if w.Week {
		_, number := s.days[3].Date.ISOWeek()
		a.Title = s.days[0].Date.Format("2 January") + " – " + s.days[6].Date.Format("2 January 2006") + " · " +
			c.Say("calendar.week.number", number)
	}
	one, err := r.counted(c, w, &s)
	if err != nil {
		return a, err
	}
	if one, a.counting, err = settled(c, one); err != nil || one == nil {
		return a, err
	}
	n := one.value
	a.Made, a.ReadTo = one.ended, n.back
	if a.Past {
		a.Live = liveAddress(w, s.begin(), s.end())
	}
	a.Throughout.plan(w, &n.planned.Throughout)
	for i := range a.Throughout.Some {
		a.Throughout.Some[i].At = ""
	}
	a.fill(w, &s, n.planned.Slots, n.past)
	return a, nil
}

// counted is what is planned in a span, and what ran in it.
type counted struct {
	planned *service.Agenda
	past    []ranHour // nil: nothing of it is over
	back    time.Time // what ran before was not read; zero: all was
}

// counted counts, or has.
func (r room) counted(c *frame.Call, w *where, s *span) (*look[*counted], error) {
	sees, whose, err := seen(c, r.service)
	if err != nil {
		return nil, err
	}
	k, at := w.key(), s.instants()
	key := strings.Join([]string{k.String(), at[0].UTC().String(), strconv.Itoa(len(at)), w.zone.String(), whose}, " ")
	asked, span := *w, *s
	return lookAt(r.agendas, c, key, func(ctx context.Context, told func(int)) (n *counted, err error) {
		n = &counted{planned: &service.Agenda{Slots: make([]forecast.Slot, len(at)-1)}}
		if span.end().After(asked.now) {
			q := service.AgendaQuery{Key: k, At: at, Named: namedMost, Sees: sees, Counted: told}
			if n.planned, err = r.service.Agenda(ctx, q); err != nil {
				return nil, err
			}
		}
		if span.begin().Before(asked.now) {
			if n.past, n.back, err = r.ran(ctx, &asked, &span); err != nil {
				return nil, err
			}
		}
		return n, nil
	}), nil
}

// fill makes the days of what is planned, and of what ran. past may be nil.
func (a *agenda) fill(w *where, s *span, slots []forecast.Slot, past []ranHour) {
	peak := 0
	for i := range slots {
		peak = max(peak, slots[i].Runs)
	}
	for i := range past {
		peak = max(peak, past[i].ran)
	}
	at := 0
	for i := range s.days {
		d := &s.days[i]
		shown := dayShown{
			Name: d.Date.Format("Monday, 2 January"), Short: d.Date.Format("Mon 2"), Link: w.address(d.Date.Format(dateForm), false),
			Today: d.Date.Format(dateForm) == w.now.Format(dateForm),
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
			hour.Title = words.Say("calendar.cell", shown.Short+" "+hour.Label, words.Count("load.count.jobs", hour.Jobs))
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

// stillLeast is how many hours in which nothing ran, one after the other, are shown as one.
const stillLeast = 3

// together joins the hours that are over and had nothing.
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

// isStill reports whether an hour is over and is known to have had nothing.
func (h *hourShown) isStill() bool {
	return h.Past && !h.Unread && h.Runs+h.Ran+h.Skipped+h.Failed == 0
}

// hourOf shows an hour of a day.
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

// plan shows what is planned.
func (h *hourShown) plan(w *where, s *forecast.Slot) {
	h.Runs, h.Jobs, h.MoreRuns, h.More = s.Runs, s.Jobs, s.Runs, s.Jobs-len(s.Some)
	for _, j := range s.Some {
		h.Some = append(h.Some, entry{
			Job: j.Key.String(), Link: frame.JobPath(j.Key), At: j.First.In(w.zone).Format("15:04"), Times: j.Runs,
		})
		h.MoreRuns -= j.Runs
	}
}

// weekRows puts the hours of the days beside each other, by what their clocks say.
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

// feedOf is the address of the coming runs for calendar programs.
func feedOf(c *frame.Call, k scheduler.Key) string {
	path := "/runs.ics"
	switch {
	case k.Job != "":
		path = "/jobCollections/" + url.PathEscape(k.Collection) + "/jobs/" + url.PathEscape(k.Job) + path
	case k.Collection != "":
		path = "/jobCollections/" + url.PathEscape(k.Collection) + path
	}
	return c.Server() + path
}
