package view

import (
	"fmt"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
)

// List is a page of anything.
type List[T any] struct {
	Value    []T     `json:"value"`
	NextLink *string `json:"nextLink"`
}

// ListOf returns a page of what show makes of each item; see [NewList].
func ListOf[T, V any](items []T, show func(T) V, next string) List[V] {
	page := make([]V, len(items))
	for i, item := range items {
		page[i] = show(item)
	}
	return NewList(page, next)
}

// NewList returns a page as {"value": […], "nextLink": …}. next tells how to ask
// for the page that follows, in the API's own way; "" makes nextLink null: there
// is none.
func NewList[T any](page []T, next string) List[T] {
	if page == nil {
		page = []T{}
	}
	if next == "" {
		return List[T]{Value: page}
	}
	return List[T]{page, &next}
}

// Paused is what a $filter, and whoever shows a job, calls the state of one that is enabled and paused.
const Paused scheduler.State = "paused"

// JobFilter reads the $filter of a list of jobs: "state eq <state>", also of [Paused], in any
// letter case, in parentheses or not. Empty means all. [ErrInvalid] for anything else.
func JobFilter(filter string) (scheduler.State, error) {
	if strings.TrimSpace(filter) == "" {
		return "", nil
	}
	states := []scheduler.State{scheduler.Enabled, scheduler.Disabled, scheduler.Completed, scheduler.Faulted, scheduler.Damaged, Paused}
	word, ok := comparison(withoutParentheses(filter), "state")
	for _, s := range states {
		if ok && strings.EqualFold(word, string(s)) {
			return s, nil
		}
	}
	return "", scheduler.Invalid("$filter", fmt.Sprintf("%q is not of the form: state eq %s", filter, alternatives(states)))
}

// withoutParentheses takes those around a whole filter away.
func withoutParentheses(filter string) string {
	filter = strings.TrimSpace(filter)
	if inner, ok := strings.CutPrefix(filter, "("); ok && strings.HasSuffix(inner, ")") {
		return strings.TrimSuffix(inner, ")")
	}
	return filter
}

// comparison reads "field eq word", where word may be in single quotes.
func comparison(text, field string) (word string, ok bool) {
	f := strings.Fields(text)
	if len(f) != 3 || !strings.EqualFold(f[0], field) || !strings.EqualFold(f[1], "eq") {
		return "", false
	}
	if word, ok = strings.CutPrefix(f[2], "'"); ok {
		return strings.CutSuffix(word, "'")
	}
	return f[2], true
}

func alternatives[T ~string](words []T) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = string(w)
	}
	return strings.Join(texts, "|")
}
