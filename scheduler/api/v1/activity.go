package v1

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Activity is what all schedulers do now, with counts of the last hour.
type Activity struct {
	At         time.Time        `json:"at"`
	Schedulers int              `json:"schedulers"` // active processes
	InFlight   int              `json:"inFlight"`   // running attempts
	Waiting    int              `json:"waiting"`    // due runs that wait for a slot
	Recent     ActivityCounts   `json:"recent"`     // of the current and the previous minute
	Hour       ActivityCounts   `json:"hour"`
	Targets    []ActivityTarget `json:"targets"` // that fail, are slow or limited, most troubled first
}

// ActivityCounts counts the runs and attempts that ended since a time.
type ActivityCounts struct {
	Since          time.Time         `json:"since"`
	Completed      uint64            `json:"completed"` // runs
	Faulted        uint64            `json:"faulted"`   // runs
	Attempts       uint64            `json:"attempts"`
	FailedAttempts uint64            `json:"failedAttempts"`
	Skipped        uint64            `json:"skipped"`     // due times
	Postponed      uint64            `json:"postponed"`   // times that runs were postponed
	LatenessP50    scheduler.Seconds `json:"latenessP50"` // of the attempts; 0 without any
	LatenessP99    scheduler.Seconds `json:"latenessP99"`
}

// ActivityTarget is a target in trouble. It counts the attempts of the last five to ten minutes.
type ActivityTarget struct {
	Target   string            `json:"target"`          // host and port
	State    string            `json:"state,omitempty"` // open or half (its circuit breaker), slow, or limited
	InFlight int               `json:"inFlight"`        // running attempts
	Waiting  int               `json:"waiting"`         // runs that wait for a slot
	Attempts uint64            `json:"attempts"`
	Failed   uint64            `json:"failed"`       // attempts
	Mean     scheduler.Seconds `json:"meanDuration"` // of an attempt
}
