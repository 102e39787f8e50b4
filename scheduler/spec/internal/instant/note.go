package instant

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// note is a remark about a change of a clock.
type note struct {
	at   int64 // the change, in seconds since the epoch
	text string
}

// noted is a Schedule that knows what the changes of a clock do to it.
type noted interface {
	// notes returns remarks about the changes in from…to, in order, a few at most.
	notes(m *work.Meter, from, to int64) []note
}

// mostNotes bounds the remarks of one schedule.
const mostNotes = 20

// Notes returns the remarks of a schedule, if it has any to make.
func Notes(m *work.Meter, s Schedule, from, to time.Time) []string {
	var list []string
	for _, remark := range notesOf(m, s, from.Unix(), to.Unix()) {
		list = append(list, remark.text)
	}
	return list
}

func notesOf(m *work.Meter, s Schedule, from, to int64) []note {
	if n, ok := s.(noted); ok {
		return n.notes(m, from, to)
	}
	return nil
}
