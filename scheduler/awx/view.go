package awx

import (
	"regexp"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Schedule is a schedule in AWX's format.
type Schedule struct {
	ID            int       `json:"id"`
	Type          string    `json:"type"`
	URL           string    `json:"url"`
	Related       related   `json:"related"`
	SummaryFields summaries `json:"summary_fields"`
	Created       time.Time `json:"created"`
	Modified      time.Time `json:"modified"`
	Name          string    `json:"name"`
	Description   string    `json:"description"`

	ExtraData document.Value `json:"extra_data"`

	// Fields that AWX has for prompts on launch. They are always null.

	Inventory            *int    `json:"inventory"`
	SCMBranch            *string `json:"scm_branch"`
	JobType              *string `json:"job_type"`
	JobTags              *string `json:"job_tags"`
	SkipTags             *string `json:"skip_tags"`
	Limit                *string `json:"limit"`
	DiffMode             *bool   `json:"diff_mode"`
	Verbosity            *int    `json:"verbosity"`
	ExecutionEnvironment *int    `json:"execution_environment"`
	Forks                *int    `json:"forks"`
	JobSliceCount        *int    `json:"job_slice_count"`
	Timeout              *int    `json:"timeout"`

	RRule    string     `json:"rrule"`
	Template string     `json:"unified_job_template"` // collection/job
	Enabled  bool       `json:"enabled"`
	Start    *time.Time `json:"dtstart"`  // the first instant; null: none
	End      *time.Time `json:"dtend"`    // the last instant; null: unlimited, or no instant at all
	Next     *time.Time `json:"next_run"` // the next instant; null: none, or the schedule is disabled
	TimeZone string     `json:"timezone"`
	Until    string     `json:"until"` // in the time zone of the recurrence; empty: it names none
}

// related contains API paths.
type related struct {
	Template string `json:"unified_job_template"` // the template's job
	Jobs     string `json:"unified_jobs"`         // the history of the schedule's own job
}

type summaries struct {
	Template     templateSummary `json:"unified_job_template"`
	Capabilities capabilities    `json:"user_capabilities"`
}

type templateSummary struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Type string `json:"unified_job_type"`
}

type capabilities struct {
	Edit   bool `json:"edit"`
	Delete bool `json:"delete"`
}

// SchedulePath is the path of schedules, before the ID.
const SchedulePath = "/api/v2/schedules/"

// View returns the schedule of a job at time now.
func View(j *scheduler.Job, now time.Time) Schedule {
	s := brief(j)
	s.TimeZone, s.Until = j.Plan.Zone().String(), until(s.RRule, j.Plan.Zone())
	s.Start, s.End = bounds(j, s.RRule)
	s.Next = next(j, now)
	return s
}

// next returns the next instant of an enabled schedule.
func next(j *scheduler.Job, now time.Time) *time.Time {
	if j.State != scheduler.Enabled {
		return nil
	}
	if t, ok := j.FirstFrom(now.Add(1)); ok {
		return instant(t, true)
	}
	return nil
}

// brief returns the schedule of a job without the fields that require its plan, which is expensive.
func brief(j *scheduler.Job) Schedule {
	id, _ := IDOf(j.Key.Job)
	rrule, template := rruleOf(j), TemplateOf(j)
	collection, job, _ := strings.Cut(template, "/")
	return Schedule{
		ID: id, Type: "schedule", URL: SchedulePath + strings.TrimPrefix(j.Key.Job, jobPrefix) + "/",
		Related: related{
			Template: "/jobCollections/" + collection + "/jobs/" + job,
			Jobs:     "/jobCollections/" + j.Key.Collection + "/jobs/" + j.Key.Job + "/history",
		},
		SummaryFields: summaries{templateSummary{template, job, "job"}, capabilities{true, true}},
		Created:       j.Created.UTC(), Modified: j.Updated.UTC(), Name: NameOf(j), Description: j.Def.Description,
		ExtraData: document.ObjectValue(j.Def.Data.Members()...), RRule: rrule, Template: template, Enabled: EnabledOf(j),
	}
}

// bounds returns the first and the last instant of a recurrence, regardless of the job's creation time.
func bounds(j *scheduler.Job, rrule string) (first, last *time.Time) {
	all, err := j.Plan.For(j.Key.Job, j.UID, time.Time{}) // does not compile it again
	if err != nil {                                       // it was read once
		return nil, nil
	}
	first = instant(all.First())
	if ends(rrule) {
		last = instant(all.Last(time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)))
	}
	return first, last
}

func instant(t time.Time, ok bool) *time.Time {
	if !ok {
		return nil
	}
	t = t.UTC()
	return &t
}

// ends reports whether every rule of a recurrence has a last instant.
func ends(rrule string) bool {
	for property := range strings.FieldsSeq(strings.ToUpper(rrule)) {
		if strings.HasPrefix(property, "RRULE:") && !strings.Contains(property, "COUNT=") && !strings.Contains(property, "UNTIL=") {
			return false
		}
	}
	return true
}

// untilPart matches the first UNTIL of a rule: date, time, and Z for UTC.
var untilPart = regexp.MustCompile(`(?i)(?:^|\s)RRULE:\S*?UNTIL=(\d{8})(?:T(\d{6})(Z?))?`)

// until returns the end of the first rule with an UNTIL, as local time in zone; "" if none has one.
func until(rrule string, zone *time.Location) string {
	const written, shown = "20060102150405", "2006-01-02T15:04:05"
	found := untilPart.FindStringSubmatch(rrule)
	if found == nil {
		return ""
	}
	if found[2] == "" {
		found[2] = "000000"
	}
	t, err := time.Parse(written, found[1]+found[2])
	if err != nil {
		return ""
	}
	if found[3] != "" {
		t = t.In(zone)
	}
	return t.Format(shown)
}
