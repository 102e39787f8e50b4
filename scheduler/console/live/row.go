package live

import (
	"strings"
	"sync"

	"github.com/carillon-sched/carillon/scheduler"
)

// rowsKept limits the cached rows: a second or more, as a browser gets at most 100 per second.
const rowsKept = 512

// rows caches the rendered rows of records for all readers. It is safe for concurrent use.
type rows struct {
	mu   sync.Mutex
	made map[*scheduler.Record]string
	last [rowsKept]*scheduler.Record // ring buffer of the rendered records
	at   int
}

// of returns the row of a record.
func (o *rows) of(r *scheduler.Record) (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if row, made := o.made[r]; made {
		return row, nil
	}
	l := lineOf(r)
	row, err := written("row", &l)
	if err != nil {
		return "", err
	}
	if o.made == nil {
		o.made = map[*scheduler.Record]string{}
	}
	delete(o.made, o.last[o.at])
	o.last[o.at], o.made[r] = r, row
	o.at = (o.at + 1) % rowsKept
	return row, nil
}

// all returns the data of an event: rows, newest first, then the number of missed records with a link to address.
func (o *rows) all(b *batch, address string) (string, error) {
	var out strings.Builder
	for _, r := range b.records {
		row, err := o.of(r)
		if err != nil {
			return "", err
		}
		out.WriteString(row)
	}
	if b.Missed > 0 {
		missed, err := written("missed", struct {
			Missed  int
			Address string
		}{b.Missed, address})
		if err != nil {
			return "", err
		}
		out.WriteString(missed)
	}
	return out.String(), nil
}
