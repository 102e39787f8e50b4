package azure

import "time"

// Recurrence is when a job recurs, as Azure Scheduler has it.
type Recurrence struct {
	Frequency Frequency // required
	Interval  int       // in units of the frequency; 0 is 1
	Schedule  Elements  // limits or expands the occurrences
	Anchor    Anchor    // what the occurrences are counted from
	End       time.Time // the last instant; zero: none
}

// Elements is the schedule of a recurrence. Each element is a set; order and repetition mean nothing, and an empty
// element is not there. There are no seconds: those of the start count, or none if the job has no start.
type Elements struct {
	// Minutes of the hour, 0-59. For Second and Minute they limit, for longer frequencies they replace the start's
	// minute.
	Minutes []int

	// Hours of the day, 0-23. Up to Hour they limit, for longer frequencies they replace the start's hour; they default
	// to every hour if there are Minutes.
	Hours []int

	// WeekDays, for Week only, replace the start's weekday. With an interval, weeks begin on Monday.
	WeekDays []time.Weekday

	// MonthDays, for Month only: 1…31 from the start of the month, -1…-31 from its end. Days that a month lacks are
	// skipped.
	MonthDays []int

	// Months 1-12, which limit; for Year they replace the start's month. They are on Azure's page "Scheduler concepts"
	// only.
	Months []int

	// MonthlyOccurrences, for Month only. Together with MonthDays a day must satisfy both.
	MonthlyOccurrences []MonthlyOccurrence
}

// MonthlyOccurrence is a weekday of a month, such as its second Friday.
type MonthlyOccurrence struct {
	Day time.Weekday

	// Occurrence counts from the start of the month (1…5) or from its end (-1…-5). Zero is every such weekday.
	Occurrence int
}

// Anchor says what the occurrences of a recurrence are counted from.
type Anchor uint8

const (
	// AnchorGrid counts from the start, so that occurrences do not drift.
	AnchorGrid Anchor = iota

	// AnchorLastExecution counts from the start of the last execution, as Azure and Obsidian did. It applies to a
	// recurrence without schedule, and to an @recur.
	AnchorLastExecution
)

// anchorNames are the anchors as they are written, by their values.
var anchorNames = []string{AnchorGrid: "grid", AnchorLastExecution: "lastExecution"}

// String returns the anchor as it is written.
func (a Anchor) String() string {
	if int(a) < len(anchorNames) {
		return anchorNames[a]
	}
	return "unknown"
}

// empty reports whether there are no elements, so that the schedule says nothing.
func (e Elements) empty() bool {
	return len(e.Minutes) == 0 && len(e.Hours) == 0 && len(e.WeekDays) == 0 &&
		len(e.MonthDays) == 0 && len(e.Months) == 0 && len(e.MonthlyOccurrences) == 0
}

// interval returns Interval with its default.
func (r Recurrence) interval() int { return max(r.Interval, 1) }
