package v1

import (
	"fmt"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
)

// List is a page of a list.
type List[T any] struct {
	Value    []T     `json:"value"`
	NextLink *string `json:"nextLink"`
}

// ListOf returns a page of the results of show; see [NewList].
func ListOf[T, V any](items []T, show func(T) V, next string) List[V] {
	page := make([]V, len(items))
	for i, item := range items {
		page[i] = show(item)
	}
	return NewList(page, next)
}

// NewList returns a page as {"value": […], "nextLink": …}. next requests the following page in the API's own form; ""
// encodes nextLink as null: no page follows.
func NewList[T any](page []T, next string) List[T] {
	if page == nil {
		page = []T{}
	}
	if next == "" {
		return List[T]{Value: page}
	}
	return List[T]{page, &next}
}

// Paused is the state of an enabled and paused job in a $filter and in user interfaces.
const Paused scheduler.State = "paused"

// OnlyPaused is the $filter of [Paused] jobs.
const OnlyPaused = "state eq paused"

// JobFilter parses the $filter of a list of jobs: "state eq <state>", including [Paused], in any letter case and with
// optional parentheses. An empty filter selects all jobs. JobFilter returns [scheduler.ErrInvalid] for any other
// filter.
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

// withoutParentheses removes the parentheses around a whole filter.
func withoutParentheses(filter string) string {
	filter = strings.TrimSpace(filter)
	if inner, ok := strings.CutPrefix(filter, "("); ok && strings.HasSuffix(inner, ")") {
		return strings.TrimSuffix(inner, ")")
	}
	return filter
}

// comparison parses "field eq word"; the word may be in single quotes.
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
