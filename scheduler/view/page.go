package view

import (
	"fmt"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Page says which part of a list is wanted.
type Page struct {
	Skip   int
	Top    int    // 0: MaxPage
	After  string // of a list of jobs: the name after which it goes on, where Skip begins to count
	Before uint64 // of a history: the sequence of the record before which it goes on, likewise; 0: it begins with the newest

	Labels scheduler.Selector // of a list of jobs: only those that it picks; Skip counts them alone
}

// MaxPage is the most entries a page has.
const MaxPage = 100

// Validate checks the page's bounds.
func (p Page) Validate() error {
	var problems document.Problems
	if p.Top < 0 || p.Top > MaxPage {
		problems = append(problems, document.Problem{Path: "$top", Message: fmt.Sprintf("%d is not in 1-%d", p.Top, MaxPage)})
	}
	if p.Skip < 0 {
		problems = append(problems, document.Problem{Path: "$skip", Message: fmt.Sprintf("%d is negative", p.Skip)})
	}
	if problems == nil {
		return nil
	}
	return scheduler.AsInvalid(problems)
}

// Size is how many entries are wanted at most.
func (p Page) Size() int {
	if p.Top == 0 {
		return MaxPage
	}
	return p.Top
}
