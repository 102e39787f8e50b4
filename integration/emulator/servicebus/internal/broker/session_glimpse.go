package broker

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// A SessionGlimpse is a session as it was at a moment. Its state is the broker's.
type SessionGlimpse struct {
	ID          string
	Messages    int
	LockedUntil time.Time // zero unless a receiver has it
	State       []byte
	HasState    bool
	Updated     time.Time // of the state
}

// Sessions returns up to most of the sessions whose ids have a text in any case of letters, by id, and how many there are besides.
func (w *Window) Sessions(text string, most int) (found []SessionGlimpse, more int, err error) {
	e := w.queue.entity
	if err := e.lock(); err != nil {
		return nil, 0, err
	}
	defer e.mu.Unlock()
	wanted := lower(text)
	for _, s := range e.sessions {
		if !strings.Contains(lower(s.id), wanted) {
			continue
		}
		g := SessionGlimpse{
			ID: s.id, Messages: s.messages, LockedUntil: instant(s.lockedUntil), State: s.data, HasState: s.hasData,
			Updated: instant(s.updated),
		}
		if s.holder == nil {
			g.LockedUntil = time.Time{}
		}
		found = append(found, g)
	}
	slices.SortFunc(found, func(a, b SessionGlimpse) int { return cmp.Compare(a.ID, b.ID) })
	if more = len(found) - most; more > 0 {
		return found[:most], more, nil
	}
	return found, 0, nil
}
