package browse

import (
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

// A Session is one of an entity, as it was at a moment.
type Session struct {
	ID          string
	Messages    int       // that nobody has completed, in all stages
	LockedUntil time.Time // zero: no receiver has it
	State       []byte    // what receivers keep with it, at most the first [MaxSessionState] bytes
	StateSize   int       // -1: none
	Updated     time.Time // of the state
}

// MaxSessionState is how much of a session's state is shown.
const MaxSessionState = 4096

// Sessions are those of a queue or subscription whose ids have a text in any case of letters, up to most, by id; more is how many
// others there are.
func (n *Namespace) Sessions(path, text string, most int) (found []Session, more int, err error) {
	w, err := n.broker.Window(path)
	if err != nil {
		return nil, 0, err
	}
	all, more, err := w.Sessions(text, most)
	for _, s := range all {
		found = append(found, session(s))
	}
	return found, more, err
}

func session(s broker.SessionGlimpse) Session {
	shown := Session{ID: s.ID, Messages: s.Messages, LockedUntil: s.LockedUntil, StateSize: -1, Updated: s.Updated}
	if s.HasState {
		shown.State, shown.StateSize = s.State[:min(len(s.State), MaxSessionState)], len(s.State)
	}
	return shown
}
