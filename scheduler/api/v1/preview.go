package v1

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec"
)

// AWXPreviewed is the preview of a schedule in the form of AWX.
type AWXPreviewed struct {
	Local []string `json:"local"`
	UTC   []string `json:"utc"`
}

// Previewed lists the next runs of a job.
type Previewed struct {
	UTC         []string `json:"utc"`
	Local       []string `json:"local"`    // the instants of utc on the clock of timeZone
	Complete    bool     `json:"complete"` // no runs follow
	Description string   `json:"description"`
	Notes       []string `json:"notes"`
	TimeZone    string   `json:"timeZone"`
}

// Preview returns a preview in the form of all APIs:
//
//	{"utc": […], "local": […], "complete": true, "description": "…", "notes": […], "timeZone": "Europe/Berlin"}
func Preview(p *spec.Preview) any {
	return Previewed{
		UTC: timesIn(p.Times, time.UTC), Local: timesIn(p.Times, p.Zone), Complete: p.Complete,
		Description: p.Description, Notes: append([]string{}, p.Notes...), TimeZone: p.Zone.String(),
	}
}

// AWXPreview returns a preview in the form of AWX: {"local": […], "utc": […]}.
func AWXPreview(p *spec.Preview) any {
	return AWXPreviewed{Local: timesIn(p.Times, p.Zone), UTC: timesIn(p.Times, time.UTC)}
}

// timesIn returns instants on the clock of a zone.
func timesIn(times []time.Time, zone *time.Location) []string {
	local := make([]string, len(times))
	for i, t := range times {
		local[i] = t.In(zone).Format(time.RFC3339Nano) // [time.Time.MarshalJSON] fails for the year 10000
	}
	return local
}
