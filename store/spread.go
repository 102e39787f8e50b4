package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
)

// How leaders are spread. A cluster that restarts its servers one after the other has in the end most leaders on those that
// were restarted first, and none on the last one, and nothing in it brings them back. Who leads a stream does its work: so
// one process at a time looks where the leaders are, and has one step down for a server that leads fewer, as long as the
// servers are uneven. That takes a moment in which nothing is written to the stream, so it is done seldom, of one stream
// at a time, and only while nothing else is wrong.
const (
	spreadLooks = 6        // within the time for which leaders may be uneven
	movedRests  = 10       // times as long as that, before a leader is moved again
	spreadLag   = 100      // entries that a copy may lack: a busy stream always has some on their way to the slower server
	spreadKey   = "spread" // the setting that tells who looks, since when leaders are uneven, and which were moved
)

// raftGroup is a Raft group, of a stream or of its consumer.
type raftGroup struct {
	kind   string // only those of one kind are counted together
	stream string
	leader string
	ready  []string // the others that could lead it at once
	whole  bool     // all its copies are up to date
}

// consumersKind is the kind of the groups of consumers.
const consumersKind = "consumers"

// name is of the group, as the state has it.
func (g *raftGroup) name() string { return g.kind + " " + g.stream }

// spread is what is known of earlier looks.
type spread struct {
	Uneven time.Time            `json:"uneven,omitzero"` // since when
	Moved  map[string]time.Time `json:"moved,omitempty"` // when groups were
}

// move is a leader that is to step down for another server.
type move struct {
	group *raftGroup
	to    string
}

// next decides whether a leader is to be moved. Leaders stay where they are while a group is without leader or has a copy that
// is behind, when the servers are even, when they have been uneven for less than patience, and when they were moved lately.
func (s *spread) next(groups []raftGroup, now time.Time, patience time.Duration) *move {
	for name, at := range s.Moved {
		if now.Sub(at) >= movedRests*patience {
			delete(s.Moved, name)
		}
	}
	var found *move
	if !slices.ContainsFunc(groups, func(g raftGroup) bool { return !g.whole || g.leader == "" }) {
		found = s.uneven(groups)
	}
	switch {
	case found == nil:
		s.Uneven = time.Time{}
		return nil
	case s.Uneven.IsZero():
		s.Uneven = now
	}
	if now.Sub(s.Uneven) < patience {
		return nil
	}
	if s.Moved == nil {
		s.Moved = map[string]time.Time{}
	}
	s.Moved[found.group.name()] = now
	return found
}

// uneven finds the leader whose move makes servers more even than that of any other: one that another server should be,
// which leads at least two fewer of its kind.
func (s *spread) uneven(groups []raftGroup) *move {
	leads := map[[2]string]int{} // by kind and server
	for _, g := range groups {
		leads[[2]string{g.kind, g.leader}]++
	}
	var found *move
	most := 1
	for i := range groups {
		g := &groups[i]
		if _, moved := s.Moved[g.name()]; moved {
			continue
		}
		for _, to := range g.ready {
			if more := leads[[2]string{g.kind, g.leader}] - leads[[2]string{g.kind, to}]; more > most {
				found, most = &move{g, to}, more
			}
		}
	}
	return found
}

// Spread keeps the leaders of streams and consumers spread over the servers of a cluster, until ctx is done. They are left
// where they are until they have been uneven for as long as patience says, and where the NATS user may not move them.
func (s *Store) Spread(ctx context.Context, patience time.Duration) {
	if patience <= 0 {
		return
	}
	tick := time.NewTicker(max(patience/spreadLooks, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		again, err := s.spreadOnce(ctx, patience)
		if err != nil && ctx.Err() == nil {
			s.cfg.Logger.Debug("the leaders of streams were not looked at", "err", err)
		}
		if !again {
			return
		}
	}
}

// spreadOnce looks once, unless another process has just done so, and reports whether there is sense in doing so again.
func (s *Store) spreadOnce(ctx context.Context, patience time.Duration) (again bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	var known spread
	var revision uint64
	e, err := s.settings.Get(ctx, spreadKey)
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
	case err != nil:
		return true, err
	default:
		revision = e.Revision()
		if err := json.Unmarshal(e.Value(), &known); err != nil {
			known = spread{} // somebody has edited it
		}
	}
	if s.spreadSeen != revision {
		s.spreadSeen = revision // another process looks; if it stops, this one does from the next time on
		return true, nil
	}
	groups, err := s.groups(ctx)
	if err != nil || len(groups) == 0 {
		return err != nil, err
	}
	found := known.next(groups, time.Now().UTC(), patience)
	data, err := json.Marshal(known)
	if err != nil {
		return true, err
	}
	if s.spreadSeen, err = s.settings.Update(ctx, spreadKey, data, revision); err != nil || found == nil {
		if overtaken(err) {
			err = nil
		}
		return true, err
	}
	return s.moveLeader(ctx, found)
}

// groups asks for those of all streams and queues; none where nothing could be moved.
func (s *Store) groups(ctx context.Context) ([]raftGroup, error) {
	var groups []raftGroup
	for _, name := range s.streams() {
		st, err := s.js.Stream(ctx, name)
		if name == s.pulse && errors.Is(err, jetstream.ErrStreamNotFound) {
			continue // the store works without it
		}
		if err != nil {
			return nil, err
		}
		info := st.CachedInfo()
		if info.Cluster == nil || info.Config.Replicas < 2 {
			return nil, nil
		}
		kind := "streams"
		if slices.ContainsFunc(s.timers, func(lane jetstream.Stream) bool { return lane.CachedInfo().Config.Name == name }) {
			kind = "lanes"
		}
		groups = append(groups, groupOf(kind, name, info.Cluster))
	}
	for _, q := range s.queues() {
		c, err := q.stream.Consumer(ctx, workers)
		if err != nil {
			return nil, err
		}
		if info := c.CachedInfo(); info.Cluster != nil {
			groups = append(groups, groupOf(consumersKind, info.Stream, info.Cluster))
		}
	}
	return groups, nil
}

func groupOf(kind, stream string, c *jetstream.ClusterInfo) raftGroup {
	g := raftGroup{kind: kind, stream: stream, leader: c.Leader, whole: true}
	for _, r := range c.Replicas {
		if r.Offline || !r.Current && r.Lag > spreadLag {
			g.whole = false
			continue
		}
		g.ready = append(g.ready, r.Name)
	}
	slices.Sort(g.ready)
	return g
}

// moveLeader has a leader step down, and reports whether there is sense in doing so of others.
func (s *Store) moveLeader(ctx context.Context, m *move) (again bool, err error) {
	subject := "$JS.API.STREAM.LEADER.STEPDOWN." + m.group.stream
	if m.group.kind == consumersKind {
		subject = "$JS.API.CONSUMER.LEADER.STEPDOWN." + m.group.stream + "." + workers
	}
	body, err := json.Marshal(map[string]any{"placement": map[string]string{"preferred": m.to}})
	if err != nil {
		return true, err
	}
	answer, err := s.nc.RequestWithContext(ctx, subject, body)
	if err != nil {
		if s.forbidden(subject) {
			s.cfg.Logger.Warn("the leaders of streams stay unevenly spread over the NATS servers: the NATS user may not move them",
				"stream", m.group.stream, "server", m.group.leader, "hint", "allow it to publish to "+subject)
			return false, nil
		}
		return true, err
	}
	var told struct {
		Error *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(answer.Data, &told); err != nil || told.Error != nil {
		return true, fmt.Errorf("%w: %s stays at %s: %s", scheduler.ErrUnavailable, m.group.name(), m.group.leader, answer.Data)
	}
	s.cfg.Logger.Info("the leaders of streams were unevenly spread over the NATS servers; one has moved",
		"of", m.group.kind, "stream", m.group.stream, "from", m.group.leader, "to", m.to)
	return true, nil
}
