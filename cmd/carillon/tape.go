package main

import (
	"sync/atomic"

	"github.com/carillon-sched/carillon/scheduler"
)

// tape prints records beside the work that makes them, which must not wait for
// a terminal. What a slow one cannot take is left out, and counted.
type tape struct {
	printer *printer
	records chan *scheduler.Record
	dropped atomic.Int64
	ended   chan struct{}
}

// tapeLength is how many records may wait to be printed.
const tapeLength = 1 << 14

func newTape(t *terminal) *tape {
	p := &tape{newPrinter(t, clock), make(chan *scheduler.Record, tapeLength), atomic.Int64{}, make(chan struct{})}
	go p.run()
	return p
}

func (p *tape) run() {
	defer close(p.ended)
	for r := range p.records {
		p.printer.print(eventOfRecord(r), r.Document())
		if n := p.dropped.Swap(0); n > 0 {
			p.printer.t.complain("hint", plural(int(n), "line was", "lines were")+` left out here; "carillon history" has them`)
		}
	}
}

// take takes a record.
func (p *tape) take(r *scheduler.Record) {
	select {
	case p.records <- r:
	default:
		p.dropped.Add(1)
	}
}

// end prints what waits. Nothing may be taken any more.
func (p *tape) end() {
	close(p.records)
	<-p.ended
}
