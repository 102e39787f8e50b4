package view

import (
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
)

// HistoryState takes the comparison "state eq enabled" out of the $filter of the
// history of a job, where it stands alone or is joined to others by "and": enabled,
// disabled, completed or faulted, in any letter case. It is the state that the job
// has, and Azure Scheduler's classic API ("Get Job History") has it. "" when there
// is none. [scheduler.ErrInvalid] for another word, and for a second one.
func HistoryState(filter string) (rest string, state scheduler.State, err error) {
	var others []string
	for words := range splitWords(filterWords(filter), "and") {
		term := strings.Join(words, " ")
		if len(words) == 0 || !strings.EqualFold(words[0], "state") {
			others = append(others, term)
			continue
		}
		if state != "" {
			return "", "", scheduler.Invalid("$filter", "asks for a state besides another")
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
