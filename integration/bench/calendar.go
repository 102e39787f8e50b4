package main

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// calendar is when a set of numbered jobs is due: job i first at
// first + i*step, cut to whole grains, and then every interval, or once when
// there is none.
type calendar struct {
	collection string
	prefix     string // of the job names
	jobs       int
	first      time.Time
	step       time.Duration
	grain      time.Duration
	interval   time.Duration

	// action returns the action of the job whose call has that key, as JSON;
	// nil: a request to a URL.
	action func(key string) string

	// members returns other members of job i, as JSON, each with a comma behind
	// it; nil: none.
	members func(i int) string
}

// job returns the key of job i.
func (c calendar) job(i int) scheduler.Key {
	return scheduler.Key{Collection: c.collection, Job: c.prefix + strconv.Itoa(i)}
}

// start is when job i is first due.
func (c calendar) start(i int) time.Time {
	return c.first.Add((time.Duration(i) * c.step).Truncate(c.grain))
}

// occurrence returns the Idempotency-Key of job i at due.
func (c calendar) occurrence(i int, due time.Time) string {
	return scheduler.OccurrenceID(c.job(i), due)
}

// within iterates over the instants in [from, to): their keys and when they are due.
func (c calendar) within(from, to time.Time) iter.Seq2[string, time.Time] {
	return func(yield func(string, time.Time) bool) {
		for i := range c.jobs {
			for due := c.start(i); due.Before(to); due = due.Add(c.interval) {
				if !due.Before(from) && !yield(c.occurrence(i, due), due) {
					return
				}
				if c.interval == 0 {
					break
				}
			}
		}
	}
}

// holds reports whether key belongs to an instant of the calendar.
func (c calendar) holds(key string) bool {
	_, name, _ := strings.Cut(key, "/")
	name, _, _ = strings.Cut(name, "@")
	number, ok := strings.CutPrefix(name, c.prefix)
	i, err := strconv.Atoi(number)
	if !ok || err != nil || i < 0 || i >= c.jobs {
		return false
	}
	due, ok := dueOf(key)
	since := due.Sub(c.start(i))
	if !ok || since < 0 || c.occurrence(i, due) != key {
		return false
	}
	return since == 0 || c.interval > 0 && since%c.interval == 0
}

// dueOf reads the instant from an Idempotency-Key.
func dueOf(key string) (time.Time, bool) {
	due, err := time.Parse(time.RFC3339Nano, key[strings.LastIndexByte(key, '@')+1:])
	return due, err == nil
}

// document returns the job document of job i, which calls url unless the
// calendar has another action.
func (c calendar) document(i int, url string) []byte {
	recurrence := ""
	if c.interval > 0 {
		recurrence = fmt.Sprintf(`"recurrence":{"frequency":"second","interval":%d},`, int(c.interval/time.Second))
	}
	var action string
	if c.action != nil {
		action = c.action(c.occurrence(i, c.start(i)))
	} else {
		action = fmt.Sprintf(`{"type":"http","request":{"uri":%q,"method":"POST","body":%q}}`, url, body)
	}
	members := ""
	if c.members != nil {
		members = c.members(i)
	}
	return fmt.Appendf(nil, `{"startTime":%q,%s%s"action":%s}`, c.start(i).Format(time.RFC3339Nano), recurrence, members, action)
}

// body is what every call sends.
const body = `{"order":"4711","amount":12.5}`
