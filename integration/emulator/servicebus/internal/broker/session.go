package broker

import (
	"context"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/index"
)

// A Session is a locked session of a source. It is closed with its receiver, or by itself.
type Session struct {
	entity   *entity
	state    *session
	receiver *Receiver // guarded by the mutex of the entity
}

// A session is the state of one session in an entity. The mutex of the entity guards it.
type session struct {
	id          string
	holder      *Session // the lock on it, if any
	lockedUntil int64
	index       int32 // in the heap of locks
	offered     bool  // is among the offers
	messages    int   // in all states
	ready       index.Heap[*turn]
	locked      []*message
	data        []byte // the state that clients set
	hasData     bool
	updated     int64 // when data was set
}

func (s *session) When() int64   { return s.lockedUntil }
func (s *session) Place() *int32 { return &s.index }

// receiver returns the receiver that gets the messages, or nil.
func (s *session) receiver() *Receiver {
	if s.holder == nil {
		return nil
	}
	return s.holder.receiver
}

// An acceptor waits for a session.
type acceptor struct{ got chan *Session }

// ID is the session's id.
func (s *Session) ID() string { return s.state.id }

// LockedUntil is when the lock ends unless it is renewed.
func (s *Session) LockedUntil() time.Time {
	s.entity.mu.Lock()
	defer s.entity.mu.Unlock()
	return time.UnixMilli(s.state.lockedUntil).UTC()
}

// Close releases the session.
func (s *Session) Close() {
	e := s.entity
	e.mu.Lock()
	defer e.unlock()
	if s.state.holder == s {
		en := e.broker.entry()
		e.endSession(s.state, false, en)
		e.broker.commit(en)
	}
}

// session returns the session with an id, and creates it if it does not exist.
func (e *entity) session(id string) *session {
	s := e.sessions[id]
	if s == nil {
		if e.sessions == nil {
			e.sessions = map[string]*session{}
		}
		s = &session{id: id}
		e.sessions[id] = s
	}
	return s
}

// tidySession deletes a session without messages, state and lock.
func (e *entity) tidySession(s *session) {
	if s.messages == 0 && s.holder == nil && !s.hasData {
		e.withdraw(s)
		delete(e.sessions, s.id)
	}
}

// withdraw removes a session from the offers.
func (e *entity) withdraw(s *session) {
	if s.offered {
		s.offered = false
		e.offers = slices.DeleteFunc(e.offers, func(other *session) bool { return other == s })
	}
}

// offer offers a free session with messages to acceptors, or delivers the messages to its receiver.
func (e *entity) offer(s *session, en *entry) {
	if s.holder != nil {
		if r := s.receiver(); r != nil && r.hungry {
			s.dispatch(nowMilli(), en)
		}
		return
	}
	if s.ready.Len() == 0 {
		return
	}
	if len(e.acceptors) > 0 {
		a := e.acceptors[0]
		e.acceptors = slices.Delete(e.acceptors, 0, 1)
		a.got <- e.grant(s)
		return
	}
	if !s.offered {
		s.offered = true
		e.offers = append(e.offers, s)
	}
}

// grant locks a session.
func (e *entity) grant(s *session) *Session {
	e.withdraw(s)
	s.holder = &Session{entity: e, state: s}
	s.lockedUntil = nowMilli() + e.settings.LockDuration.Milliseconds()
	e.locks.Fix(s)
	return s.holder
}

// endSession ends the lock of a session and of its messages. If it was lost, the deliveries count.
func (e *entity) endSession(s *session, lost bool, en *entry) {
	r := s.receiver()
	s.holder = nil
	s.lockedUntil = 0
	e.locks.Fix(s)
	for len(s.locked) > 0 {
		e.endLock(s.locked[0], lost, en)
	}
	if r != nil && lost {
		r.detach(errSessionLockLost(s.id), en)
	}
	e.offer(s, en)
	e.tidySession(s)
}

// lockSessions locks the entity of a source that has sessions.
func (s *Source) lockSessions() (*entity, error) {
	e := s.queue.entity
	if err := e.lock(); err != nil {
		return nil, err
	}
	if !s.queue.bySession() {
		e.mu.Unlock()
		return nil, fail(NotAllowed, "A sessionful message receiver cannot be created on '%s', an entity that does not require sessions. "+
			"Ensure RequiresSession is set to true when creating a Queue or Subscription to enable sessionful behavior.", s.Path())
	}
	return e, nil
}

// Accept locks a session by name. It fails with SessionCannotBeLocked if another has it.
func (s *Source) Accept(id string) (*Session, error) {
	e, err := s.lockSessions()
	if err != nil {
		return nil, err
	}
	defer e.unlock()
	if err := e.may(ReceiveDisabled); err != nil {
		return nil, err
	}
	if tooLong(id) {
		return nil, fail(InvalidField, "The length of a session id is more than %d characters.", maxID)
	}
	state := e.session(id)
	if state.holder != nil {
		if state.lockedUntil > nowMilli() {
			return nil, errSessionTaken(id)
		}
		en := e.broker.entry()
		e.endSession(state, true, en)
		e.broker.commit(en)
		if state = e.session(id); state.holder != nil { // another has waited for it
			return nil, errSessionTaken(id)
		}
	}
	e.accessed = nowMilli()
	return e.grant(state), nil
}

// AcceptNext locks a session that has messages and waits until there is one. It fails with Timeout when ctx ends.
func (s *Source) AcceptNext(ctx context.Context) (*Session, error) {
	e, err := s.lockSessions()
	if err != nil {
		return nil, err
	}
	if err := e.may(ReceiveDisabled); err != nil {
		e.unlock()
		return nil, err
	}
	e.accessed = nowMilli()
	if free := e.takeOffer(); free != nil {
		defer e.unlock()
		return e.grant(free), nil
	}
	a := &acceptor{got: make(chan *Session, 1)}
	e.acceptors = append(e.acceptors, a)
	e.unlock()
	select {
	case got, ok := <-a.got:
		if !ok {
			return nil, ErrNotFound(s.Path())
		}
		return got, nil
	case <-ctx.Done():
	}
	e.mu.Lock()
	if i := slices.Index(e.acceptors, a); i >= 0 {
		e.acceptors = slices.Delete(e.acceptors, i, i+1)
	}
	e.unlock()
	select {
	case got, ok := <-a.got: // at the last moment; the caller no longer waits
		if ok {
			got.Close()
		}
	default:
	}
	return nil, fail(Timeout, "The operation did not complete within the allotted timeout: no session was available.")
}

// takeOffer returns a free session with messages, or nil.
func (e *entity) takeOffer() *session {
	for len(e.offers) > 0 {
		s := e.offers[0]
		e.offers[0] = nil
		e.offers = e.offers[1:]
		s.offered = false
		if s.holder == nil && s.ready.Len() > 0 {
			return s
		}
	}
	e.offers = nil
	return nil
}

// lockedSession returns a session that is locked.
func (e *entity) lockedSession(id string) (*session, error) {
	s := e.sessions[id]
	if s == nil || s.holder == nil || s.lockedUntil <= nowMilli() {
		return nil, errSessionLockLost(id)
	}
	return s, nil
}

// RenewSession extends the lock of a session and returns its new end. It fails with SessionLockLost.
func (s *Source) RenewSession(id string) (time.Time, error) {
	e, err := s.lockSessions()
	if err != nil {
		return time.Time{}, err
	}
	defer e.unlock()
	state, err := e.lockedSession(id)
	if err != nil {
		return time.Time{}, err
	}
	e.accessed = nowMilli()
	state.lockedUntil = e.accessed + e.settings.LockDuration.Milliseconds()
	e.locks.Fix(state)
	for _, m := range state.locked {
		m.lockedUntil = state.lockedUntil
	}
	return time.UnixMilli(state.lockedUntil).UTC(), nil
}

// SessionState returns the state of a locked session, nil for none. It fails with SessionLockLost.
func (s *Source) SessionState(id string) ([]byte, error) {
	e, err := s.lockSessions()
	if err != nil {
		return nil, err
	}
	defer e.unlock()
	state, err := e.lockedSession(id)
	if err != nil {
		return nil, err
	}
	return state.data, nil
}

// maxState limits the state of a session.
const maxState = 1 << 20

// SetSessionState replaces the state of a locked session; an empty one removes it. It fails with SessionLockLost.
func (s *Source) SetSessionState(id string, state []byte) (Receipt, error) {
	e, err := s.lockSessions()
	if err != nil {
		return Receipt{}, err
	}
	defer e.unlock()
	locked, err := e.lockedSession(id)
	if err != nil {
		return Receipt{}, err
	}
	if len(state) > maxState {
		return Receipt{}, fail(ResourceLimitExceeded, "The state of a session may have %d bytes.", maxState)
	}
	locked.data, locked.hasData, locked.updated = nil, len(state) > 0, nowMilli()
	if locked.hasData {
		locked.data = slices.Clone(state)
	}
	en := e.broker.entry()
	en.session(e, locked)
	return e.broker.commit(en), nil
}

// Sessions returns at most top ids of sessions that have messages or a state set after a time (zero: any), sorted,
// without the first skip.
func (s *Source) Sessions(updatedAfter time.Time, skip, top int) ([]string, error) {
	e, err := s.lockSessions()
	if err != nil {
		return nil, err
	}
	defer e.unlock()
	var ids []string
	for id, state := range e.sessions {
		if updatedAfter.IsZero() && (state.messages > 0 || state.hasData) ||
			!updatedAfter.IsZero() && state.hasData && state.updated > updatedAfter.UnixMilli() {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	ids = ids[min(max(skip, 0), len(ids)):]
	return ids[:min(max(top, 0), len(ids))], nil
}
