package store

import (
	"slices"
	"time"
)

// The patience with other processes. What the numbers rest on: a process that is
// killed loses its connection at once, which the server tells whoever asks for
// it; one that is only slow keeps its connection, and answers late.
const (
	pulseEvery = 500 * time.Millisecond // how often one that holds something says so
	askAfter   = time.Second            // of silence it is asked whether it is there
	patience   = 1500 * time.Millisecond
	graceAfter = 3 * time.Second // our own reconnect: others may need longer for theirs
)

// peers is what a process knows of the others that hold batons or specs. It is told the
// time, and does nothing by itself.
type peers map[string]peer

// peer is another process that holds something.
type peer struct {
	heard  time.Time // its last sign of life
	absent time.Time // when the server said last that it is not connected; zero: it is, or was not asked for
	asking bool      // the answer is still out
}

// sign notes a sign of life of a process that holds something.
func (p peers) sign(id string, now time.Time) { p[id] = peer{heard: now} }

// answered notes that a process which was asked has answered. One that said
// meanwhile that it holds nothing stays forgotten, as with the next two.
func (p peers) answered(id string, now time.Time) {
	if _, known := p[id]; known {
		p.sign(id, now)
	}
}

// missed notes that the server knows of no such process.
func (p peers) missed(id string, now time.Time) {
	if at, known := p[id]; known {
		p[id] = peer{heard: at.heard, absent: now}
	}
}

// waits notes that there was no answer in time. That means nothing: it is
// connected, and stalled, or the network is; the server's own patience, [ackWait],
// holds for it.
func (p peers) waits(id string) {
	if at, known := p[id]; known {
		at.asking = false
		p[id] = at
	}
}

// reconnected gives the others time to connect again, too.
func (p peers) reconnected(now time.Time) {
	for id := range p {
		p[id] = peer{heard: now.Add(graceAfter - patience)}
	}
}

// questions returns whom to ask whether they are there, in order, and counts them as asked.
func (p peers) questions(now time.Time) []string {
	var ids []string
	for id, at := range p {
		if !at.asking && now.Sub(at.heard) >= askAfter {
			at.asking = true
			p[id] = at
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// vanished takes out and returns those that have been silent for long enough,
// and were not connected at the end of it.
func (p peers) vanished() []string {
	var ids []string
	for id, at := range p {
		if at.absent.Sub(at.heard) >= patience {
			delete(p, id)
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}
