package load

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/records"
	"github.com/carillon-sched/carillon/scheduler/control"
)

// Limits of the history that a page reads: enough for all of a quiet day or week, and for the latest part of a busy
// one.
const (
	pastPages = 30
	pastWait  = 1500 * time.Millisecond
)

// ranHour has the past runs of an hour.
type ranHour struct {
	ran     int // attempts
	failed  int // failed attempts
	skipped int
	jobs    map[scheduler.Key]*entry
}

// ran reads the past runs of a span. back is the beginning of the part that it read, zero for all of it.
func (r section) ran(ctx context.Context, w *where, s span) (hours []ranHour, back time.Time, err error) {
	at := s.instants()
	hours = make([]ranHour, len(at)-1)
	q := control.HistoryQuery{Key: w.key(), Sees: auth.Sees(ctx)}
	q.Since, q.Until = s.begin(), s.end().Add(-1)
	page, late := v1.Page{}, time.Now().Add(pastWait)
	oldest := w.now
	for n := 0; ; n++ {
		found, next, err := r.service.History(ctx, q, page)
		if err != nil {
			return nil, back, err
		}
		for _, rec := range found {
			i, exact := slices.BinarySearchFunc(at, rec.At(), time.Time.Compare)
			if !exact {
				i--
			}
			if i >= 0 && i < len(hours) {
				hours[i].add(rec, w.zone)
			}
			oldest = rec.At()
		}
		if next == 0 {
			return hours, back, nil
		}
		if page.Before = next; n >= pastPages || time.Now().After(late) {
			return hours, oldest, nil
		}
	}
}

// add adds a record.
func (h *ranHour) add(r *scheduler.Record, zone *time.Location) {
	switch {
	case r.Outcome == scheduler.OutcomeSkipped:
		h.skipped += max(1, r.Count)
		return
	case r.Started.IsZero() || r.Outcome == scheduler.OutcomeFaulted: // recorded again with the last attempt
		return
	}
	h.ran++
	if h.jobs == nil {
		h.jobs = map[scheduler.Key]*entry{}
	}
	e := h.jobs[r.Job]
	if e == nil {
		e = &entry{Job: r.Job.String()}
		h.jobs[r.Job] = e
	}
	e.Times++
	e.At = r.At().In(zone).Format("15:04") // ends as the first time, because records come newest first
	if r.Outcome == scheduler.OutcomeFailed {
		h.failed++
		e.Failed++
	}
}

// take adds past runs to an hour, before its planned ones: jobs that failed, then those that ran least.
func (h *hourShown) take(p *ranHour) {
	h.Ran, h.Failed, h.Skipped = p.ran, p.failed, p.skipped
	if len(p.jobs) == 0 || !h.Past {
		return
	}
	var all []entry
	for _, e := range p.jobs {
		all = append(all, *e)
	}
	slices.SortFunc(all, func(a, b entry) int {
		return cmp.Or(cmp.Compare(min(b.Failed, 1), min(a.Failed, 1)), cmp.Compare(a.Times, b.Times), cmp.Compare(a.Job, b.Job))
	})
	h.Jobs, h.MoreRuns = len(all), h.Ran
	h.Some = all[:min(namedMost, len(all))]
	h.More = len(all) - len(h.Some)
	for _, e := range h.Some {
		h.MoreRuns -= e.Times
	}
	slices.SortFunc(h.Some, func(a, b entry) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Job, b.Job)) })
}

// liveAddress returns the URL of the attempts of a span.
func liveAddress(w *where, from, to time.Time) string {
	f := records.Filter{Collection: w.Collection, Job: w.Job, Since: from.UTC().Format(time.RFC3339)}
	if to.Before(w.now) {
		f.Until = to.UTC().Format(time.RFC3339)
	}
	return f.Address(frame.Root + "/live")
}

// zones are the proposed zones: one or two for each UTC offset. The user can type any other.
var zones = []string{
	"UTC", "Pacific/Honolulu", "America/Anchorage", "America/Los_Angeles", "America/Denver", "America/Chicago",
	"America/New_York", "America/Halifax", "America/St_Johns", "America/Sao_Paulo", "Atlantic/South_Georgia",
	"Atlantic/Azores", "Europe/London", "Europe/Berlin", "Europe/Paris", "Europe/Athens", "Africa/Johannesburg",
	"Europe/Istanbul", "Africa/Nairobi", "Asia/Tehran", "Asia/Dubai", "Asia/Kabul", "Asia/Karachi", "Asia/Kolkata",
	"Asia/Kathmandu", "Asia/Dhaka", "Asia/Yangon", "Asia/Bangkok", "Asia/Shanghai", "Asia/Singapore", "Asia/Tokyo",
	"Asia/Seoul", "Australia/Adelaide", "Australia/Sydney", "Australia/Lord_Howe", "Pacific/Noumea", "Pacific/Auckland",
	"Pacific/Chatham", "Pacific/Tongatapu", "Pacific/Kiritimati",
}

// span is a part of the calendar: the hours of one day or of a week.
type span []day

// day is a day in a zone.
type day struct {
	Date  time.Time   // its midnight, or the first instant after a skipped midnight
	At    []time.Time // its hours, and the end of the last
	Shift time.Duration
}

// hourLabel returns the label of an hour, with its UTC offset if the hour repeats.
func (d *day) hourLabel(i int) string {
	label := d.At[i].Format("15:04")
	if d.Shift != 0 {
		label += " " + offset(d.At[i])
	}
	return label
}

// dayOf returns the day of an instant in its zone. At a DST change, an hour is missing, repeated, or shorter.
func dayOf(t time.Time) day {
	y, m, d := t.Date()
	from, to := startOf(y, m, d, t.Location()), startOf(y, m, d+1, t.Location())
	one := day{Date: from}
	_, before := from.Zone()
	_, after := to.Add(-1).Zone()
	one.Shift = time.Duration(after-before) * time.Second
	for at := from; at.Before(to); {
		one.At = append(one.At, at)
		at = nextHour(at)
	}
	one.At = append(one.At, to)
	return one
}

// startOf returns the beginning of a day in a zone. If the clock skips midnight, the day begins later. If a backward
// change repeats the beginning of a date, startOf returns the first one.
func startOf(y int, m time.Month, d int, zone *time.Location) time.Time {
	noon := time.Date(y, m, d, 12, 0, 0, 0, zone)
	t := noon
	for range 15 { // no day has that many hours before its noon
		before := t.Add(-time.Hour)
		if before.Day() != noon.Day() {
			break
		}
		t = before
	}
	// Less than an hour or a DST change remains.
	for t.Add(-time.Minute).Day() == noon.Day() {
		t = t.Add(-time.Minute)
	}
	return t
}

// nextHour returns the next full hour on the clock, or an earlier DST change.
func nextHour(t time.Time) time.Time {
	next := t.Add(time.Duration(60-t.Minute()) * time.Minute)
	if _, change := t.ZoneBounds(); change.After(t) && change.Before(next) && offset(change) != offset(t) {
		return change
	}
	return next
}

// weekOf returns the week of an instant; weeks begin on Monday.
func weekOf(t time.Time) span {
	y, m, d := t.Date()
	monday := d - (int(t.Weekday())+6)%7
	var s span
	for i := range 7 {
		s = append(s, dayOf(time.Date(y, m, monday+i, 12, 0, 0, 0, t.Location())))
	}
	return s
}

// instants returns the hours of all days, and the end of the last.
func (s span) instants() (at []time.Time) {
	for _, d := range s {
		at = append(at, d.At[:len(d.At)-1]...)
	}
	return append(at, s.end())
}

func (s span) begin() time.Time { return s[0].At[0] }

func (s span) end() time.Time {
	last := s[len(s)-1]
	return last.At[len(last.At)-1]
}
