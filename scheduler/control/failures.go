package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/explain"
)

// FailureKeeper shows live statistics and the groups of failed attempts, and stores which of them are acknowledged or muted.
type FailureKeeper struct {
	shared *shared
}

// mark is what people have said about a failure group, by its ID. The bucket of operations keeps it for 7 days.
type mark struct {
	Acknowledged *v1.Acknowledgment `json:"acknowledged,omitempty"`
	MutedUntil   time.Time          `json:"mutedUntil,omitzero"`
}

const (
	// markPrefix precedes the ID in the name of a mark. No operation has such a name.
	markPrefix = "failure."

	// maxMute limits how long a group can be muted: the mark expires after it.
	maxMute = 7 * 24 * time.Hour
)

// Activity returns what all schedulers do now, with counts of the last hour.
func (f FailureKeeper) Activity(ctx context.Context) (*v1.Activity, error) {
	return f.shared.Activity(ctx)
}

// Failures returns the failure groups of the jobs that the caller may see: open groups first, then acknowledged, muted
// and resolved ones. Within a state, the group with the most failures in the last hour is first.
func (f FailureKeeper) Failures(ctx context.Context) ([]*v1.FailureGroup, error) {
	all := f.shared.Failures(ctx, auth.Sees(ctx))
	for _, g := range all {
		m, err := f.mark(ctx, g.ID)
		if err != nil {
			return nil, err
		}
		m.apply(g, f.shared.Store.Now())
		g.Selection = nil
	}
	slices.SortStableFunc(all, func(x, y *v1.FailureGroup) int {
		return slices.Index(v1.FailureStates, x.State) - slices.Index(v1.FailureStates, y.State)
	})
	return all, nil
}

// Failure returns a failure group with the selection of its jobs. ErrNotFound if it does not exist or the caller may not
// see any of its jobs.
func (f FailureKeeper) Failure(ctx context.Context, id string) (*v1.FailureGroup, error) {
	g := find(f.shared.Failures(ctx, auth.Sees(ctx)), id)
	if g == nil {
		return nil, fmt.Errorf("failure group %q: %w; a group is kept for a day after its last failure", id, scheduler.ErrNotFound)
	}
	m, err := f.mark(ctx, id)
	if err != nil {
		return nil, err
	}
	m.apply(g, f.shared.Store.Now())
	return g, nil
}

func find(all []*v1.FailureGroup, id string) *v1.FailureGroup {
	if i := slices.IndexFunc(all, func(g *v1.FailureGroup) bool { return g.ID == id }); i >= 0 {
		return all[i]
	}
	return nil
}

// apply sets the state of a group. An acknowledgment ends when the group is resolved, a mute at its time.
func (m *mark) apply(g *v1.FailureGroup, now time.Time) {
	if m.Acknowledged != nil && !m.Acknowledged.At.Before(g.First) {
		g.Acknowledged = m.Acknowledged
	}
	if m.MutedUntil.After(now) {
		g.MutedUntil = m.MutedUntil
	}
	switch {
	case !g.Resolved.IsZero():
		g.State = v1.FailureResolved
	case !g.MutedUntil.IsZero():
		g.State = v1.FailureMuted
	case g.Acknowledged != nil:
		g.State = v1.FailureAcknowledged
	default:
		g.State = v1.FailureOpen
	}
}

// AcknowledgeFailure states that the caller handles a group, with a note in the body, until the group is resolved.
func (f FailureKeeper) AcknowledgeFailure(ctx context.Context, id string, body []byte) (*v1.FailureGroup, error) {
	if len(body) == 0 {
		body = []byte("{}")
	}
	req, err := readRequest(ctx, body, func(o *document.Object, req *v1.AcknowledgeRequest) {
		if len(req.Note) > audit.MaxText {
			o.Problem("note", "has %d bytes; at most %d are allowed", len(req.Note), audit.MaxText)
		}
	})
	if err != nil {
		return nil, err
	}
	by, _ := by(ctx)
	a := &v1.Acknowledgment{By: by.String(), Note: strings.TrimSpace(req.Note), At: f.shared.Store.Now().UTC()}
	return f.change(asking(ctx, "acknowledge"), id, func(m *mark) { m.Acknowledged = a })
}

// MuteFailure mutes a group until the time in the body.
func (f FailureKeeper) MuteFailure(ctx context.Context, id string, body []byte) (*v1.FailureGroup, error) {
	req, err := readRequest[v1.MuteRequest](ctx, body, nil)
	if err != nil {
		return nil, err
	}
	now := f.shared.Store.Now().UTC()
	until, err := explain.ParseFuture(req.Until, time.UTC, now)
	if err == nil && until.Sub(now) > maxMute {
		err = fmt.Errorf("%q is more than 7 days from now; choose an earlier time", req.Until)
	}
	if err != nil {
		return nil, scheduler.Invalid("until", err.Error())
	}
	return f.change(asking(ctx, "mute"), id, func(m *mark) { m.MutedUntil = until.UTC() })
}

// ReopenFailure removes the acknowledgment of a group, and unmutes it.
func (f FailureKeeper) ReopenFailure(ctx context.Context, id string) (*v1.FailureGroup, error) {
	return f.change(asking(ctx, "reopen"), id, func(m *mark) { *m = mark{} })
}

// change edits the mark of a group. The caller needs the right to operate all of its jobs.
func (f FailureKeeper) change(ctx context.Context, id string, edit func(*mark)) (*v1.FailureGroup, error) {
	if _, err := f.Failure(ctx, id); err != nil {
		return nil, err
	}
	if whole := find(f.shared.Failures(ctx, func(string) bool { return true }), id); whole != nil {
		for _, collection := range whole.Collections {
			if auth.Check(ctx, auth.Operate, collection) != nil {
				return nil, auth.Check(ctx, auth.Operate, "") // it names no collection that the caller does not see
			}
		}
	}
	for range casTries {
		m, revision, err := f.load(ctx, id)
		if err != nil {
			return nil, err
		}
		edit(&m)
		data, err := json.Marshal(m)
		if err != nil {
			return nil, err
		}
		e := &audit.Entry{Kind: audit.Failure, Op: origin(ctx).Op, Name: id, Result: string(v1.Updated), OldRevision: revision}
		err = f.shared.audited(ctx, e, func(e *audit.Entry) (err error) {
			e.Revision, err = f.shared.Store.Operations().Save(ctx, markPrefix+id, data, revision)
			return err
		})
		if err == nil {
			f.shared.marks.put(id, data)
			return f.Failure(ctx, id)
		}
		if !errors.Is(err, scheduler.ErrConflict) {
			return nil, err
		}
	}
	return nil, contended("failure group " + id)
}

// load reads the mark of a group from the store; the revision is 0 if it has none.
func (f FailureKeeper) load(ctx context.Context, id string) (m mark, revision uint64, err error) {
	st, err := f.shared.Store.Operations().Load(ctx, markPrefix+id)
	if err != nil && !errors.Is(err, scheduler.ErrNotFound) {
		return m, 0, fmt.Errorf("failure group %s: %w", id, err)
	}
	_ = json.Unmarshal(st.Data, &m) // a damaged mark may be replaced
	return m, st.Revision, nil
}

// mark returns the mark of a group, from memory if the marks are watched.
func (f FailureKeeper) mark(ctx context.Context, id string) (mark, error) {
	if f.shared.marks.watched.Load() {
		m, _ := f.shared.marks.by.Load(id)
		known, _ := m.(mark)
		return known, nil
	}
	m, _, err := f.load(ctx, id)
	return m, err
}

// marks are the marks of all groups in memory, by ID, if they are watched. The zero value is not.
type marks struct {
	watched atomic.Bool
	by      sync.Map
}

// put sets a mark. data is nil for an expired one.
func (s *marks) put(id string, data []byte) {
	var m mark
	_ = json.Unmarshal(data, &m) // as in load
	s.by.Store(id, m)
}
