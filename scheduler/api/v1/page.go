package v1

import (
	"fmt"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Page selects a part of a list.
type Page struct {
	Skip   int
	Top    int    // 0: MaxPage
	After  string // of a list of jobs: begin after this name, then skip Skip jobs
	Before uint64 // of a history: begin before the record with this sequence, then skip Skip records; 0: begin with the newest
}

// MaxPage limits the entries of a page.
const MaxPage = 100

// Validate checks the bounds of the page.
func (p Page) Validate() error {
	var problems document.Problems
	if p.Top < 0 || p.Top > MaxPage {
		problems = append(problems, document.Problem{Path: "$top", Message: fmt.Sprintf("%d is not in 1-%d", p.Top, MaxPage)})
	}
	if p.Skip < 0 {
		problems = append(problems, document.Problem{Path: "$skip", Message: fmt.Sprintf("%d is negative", p.Skip)})
	}
	return scheduler.AsInvalid(problems)
}

// Size returns the maximum number of entries.
func (p Page) Size() int {
	if p.Top == 0 {
		return MaxPage
	}
	return p.Top
}
