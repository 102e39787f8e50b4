package frame

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/explain"
)

// A TimeRange is the time range of a page. Its URL has it as since and until: durations before now, dates, or times; see
// [ParsePast]. Pages that show one pass it on to each other ([Section.Ranged]).
type TimeRange struct {
	From, To time.Time // To is now without until; From is zero for all
	Presets  []Preset
	Custom   string // the range, if it is none of the presets
	Since    string // as in the URL
	Until    string
	Kept     url.Values // the other parameters of the URL
	Path     string     // of the page
	Zone     *time.Location
}

// A Preset is a range up to now.
type Preset struct {
	Since, Text, Link string
	Current           bool
}

// presets are the ranges to choose from.
var presets = []string{"15m", "1h", "6h", "24h", "7d", "30d"}

// TimeRange returns the time range of the URL. without is the value of since if the URL has none; "" for all times.
func (c *Request) TimeRange(now time.Time, without string) (r *TimeRange, err error) {
	query := c.Params(rangeParameters...)
	r = &TimeRange{Since: c.Query("since"), Until: c.Query("until"), To: now, Path: c.Request.URL.Path, Kept: url.Values{}, Zone: c.Zone()}
	for name, values := range query {
		if !slices.Contains(rangeParameters, name) && name != "before" {
			r.Kept[name] = values
		}
	}
	since := r.Since
	if since == "" && r.Until == "" {
		since = without
	}
	for _, p := range presets {
		link := Address(r.Path, r.Kept, "since", p)
		r.Presets = append(r.Presets, Preset{p, c.Text("frame.range." + p), link, p == since && r.Until == ""})
	}
	for _, one := range []struct {
		name, text string
		to         *time.Time
	}{{"since", since, &r.From}, {"until", r.Until, &r.To}} {
		if one.text == "" {
			continue
		}
		if *one.to, err = ParsePast(one.text, c.Zone(), now); err != nil {
			return r, Problem{Status: http.StatusBadRequest, Text: one.name + ": " + err.Error()}
		}
	}
	if !r.From.Before(r.To) {
		return r, Problem{Status: http.StatusBadRequest, Text: c.Text("frame.range.order")}
	}
	if since != "" && !slices.Contains(presets, since) || r.Until != "" {
		r.Custom = r.short(r.From) + " – " + r.short(r.To)
	}
	return r, nil
}

var rangeParameters = []string{"since", "until"}

// short formats an end of the range; "" for none.
func (r *TimeRange) short(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return words.Date(t.In(r.Zone), words.Text("date.day")+" 15:04")
}

// Text returns the range in a sentence.
func (r *TimeRange) Text() string {
	if i := slices.IndexFunc(r.Presets, func(p Preset) bool { return p.Current }); i >= 0 {
		return words.Text("frame.range.last." + presets[i])
	}
	return r.Custom
}

// Typed returns a parameter of the URL as users type it: a time is a local one.
func (r *TimeRange) Typed(text string, t time.Time) string {
	if strings.Contains(text, ":") {
		return t.In(r.Zone).Format("2006-01-02 15:04")
	}
	return text
}

// ParsePast parses a duration before now, such as 2h, a date, or a time in a format of [explain.ParseMoment]. Local times and
// dates are in zone.
func ParsePast(text string, zone *time.Location, now time.Time) (time.Time, error) {
	if d, err := document.ParseDuration(strings.Join(strings.Fields(text), "")); err == nil && strings.Trim(text, "0123456789") != "" {
		return now.Add(-d.Approx()), nil
	}
	if day, err := time.ParseInLocation(time.DateOnly, text, zone); err == nil {
		return day, nil
	}
	m, err := explain.ParseMoment(text, zone, now)
	return m.At, err
}

// address returns the path of a section in the menu, with the time range of the page.
func (r *TimeRange) address(s *Section) string {
	if r == nil || !s.Ranged {
		return s.Path
	}
	return Address(s.Path, nil, "since", r.Since, "until", r.Until)
}
