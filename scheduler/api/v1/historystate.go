package v1

import (
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
)

// HistoryState removes the comparison "state eq enabled" from the $filter of a job's history, alone or joined by "and",
// and returns its value: enabled, disabled, completed or faulted, in any letter case; "" if the filter has none. Azure
// Scheduler's classic API ("Get Job History") compares with the current state of the job. HistoryState returns
// [scheduler.ErrInvalid] for another value or a second comparison.
func HistoryState(filter string) (rest string, state scheduler.State, err error) {
	var others []string
	for words := range splitWords(filterWords(filter), "and") {
		term := strings.Join(words, " ")
		if len(words) == 0 || !strings.EqualFold(words[0], "state") {
			others = append(others, term)
			continue
		}
		if state != "" {
			return "", "", scheduler.Invalid("$filter", "repeats the term for the state")
		}
		state, err = JobFilter(term)
		if err != nil || state == scheduler.Damaged || state == Paused {
			return "", "", scheduler.Invalid("$filter", term+" is not of the form: state eq enabled|disabled|completed|faulted")
		}
	}
	if state == "" {
		return filter, "", nil
	}
	others = slices.DeleteFunc(others, func(term string) bool { return term == "" })
	return strings.Join(others, " and "), state, nil
}
