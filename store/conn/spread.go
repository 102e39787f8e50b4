package conn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store/failover"
)

// Leader balancing. After a rolling restart of a cluster, most leaders are on the servers that restarted first and none
// on the last one, and the cluster does not rebalance them. Leaders do the streams' work, so one process at a time
// checks their distribution. While it is uneven, the process makes one leader step down in favor of a server with
// fewer. The stream accepts no writes during the election, so this happens rarely, for one stream at a time, and only
// while the cluster is otherwise healthy.
const (
	spreadLooks = 6        // checks within the time that leaders may be uneven
	movedRests  = 10       // minimum time before a leader moves again, as a multiple of that time
	spreadLag   = 100      // entries that a replica may lag: a busy stream always has some in transit to a slower server
	spreadKey   = "spread" // settings key of the state: the checking process, since when leaders are uneven, and the moved ones
)

// raftGroup is the Raft group of a stream or a consumer.
type raftGroup struct {
	kind   string // groups are balanced within a kind
	stream string
	leader string
	ready  []string // other servers that could lead it now
	whole  bool     // all replicas are up to date
}

// consumersKind is the kind of the groups of consumers.
const consumersKind = "consumers"

// name returns the group's name in the state.
func (g *raftGroup) name() string { return g.kind + " " + g.stream }

// spread is the stored state of earlier checks.
type spread struct {
	Uneven time.Time            `json:"uneven,omitzero"` // start of the imbalance
	Moved  map[string]time.Time `json:"moved,omitempty"` // time of each move, by group
}

// move is a leader that should step down in favor of another server.
type move struct {
	group *raftGroup
	to    string
}

// next returns the move to make, or nil. Leaders stay while any group lacks a leader or has a lagging replica, while
// servers are balanced or have been unbalanced for less than patience, and after a recent move.
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

// uneven returns the move that improves the balance most: to a server that leads at least two fewer groups of the same
// kind. It returns nil if no such move exists.
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

// Spread balances the leaders of streams and consumers over the servers of a cluster until ctx is done. It acts only
// after they have been unbalanced for patience, and only if the NATS user may move them.
func (s *Conn) Spread(ctx context.Context, patience time.Duration) {
	if patience <= 0 {
		return
	}
	for failover.Pause(ctx, max(patience/spreadLooks, time.Millisecond)) {
		again, err := s.spreadOnce(ctx, patience)
		if err != nil && ctx.Err() == nil {
			s.Config.Logger.Debug("the leaders of streams were not checked", "err", err)
		}
		if !again {
			return
		}
	}
}

// spreadOnce checks once, unless another process has just done so. It reports whether to continue.
func (s *Conn) spreadOnce(ctx context.Context, patience time.Duration) (again bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, PublishTimeout)
	defer cancel()
	var known spread
	var revision uint64
	e, err := s.Settings.Get(ctx, spreadKey)
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
	case err != nil:
		return true, err
	default:
		revision = e.Revision()
		if err := json.Unmarshal(e.Value(), &known); err != nil {
			known = spread{} // it was edited manually
		}
	}
	if s.spreadSeen != revision {
		s.spreadSeen = revision // another process checks; if it stops, this process checks from the next time on
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
	if s.spreadSeen, err = s.Settings.Update(ctx, spreadKey, data, revision); err != nil || found == nil {
		if overtaken(err) {
			err = nil
		}
		return true, err
	}
	return s.moveLeader(ctx, found)
}

// groups returns the groups of all streams and queues, or none if no leader can move.
func (s *Conn) groups(ctx context.Context) ([]raftGroup, error) {
	var groups []raftGroup
	for _, name := range s.Streams() {
		optional := !slices.Contains(s.Opened, name)
		st, err := s.JS.Stream(ctx, name)
		if errors.Is(err, jetstream.ErrStreamNotFound) && optional {
			continue
		}
		if err != nil {
			return nil, err
		}
		info := st.CachedInfo()
		if info.Cluster == nil || info.Config.Replicas < 2 {
			if optional {
				continue
			}
			return nil, nil
		}
		kind := "streams"
		if strings.HasPrefix(name, s.Config.Stream("TIMERS_")) {
			kind = "lanes"
		}
		groups = append(groups, groupOf(kind, name, info.Cluster))
	}
	for _, q := range s.queues {
		c, err := q.stream.Consumer(ctx, Workers)
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

// moveLeader makes a leader step down. It reports whether to continue.
func (s *Conn) moveLeader(ctx context.Context, m *move) (again bool, err error) {
	subject := "$JS.API.STREAM.LEADER.STEPDOWN." + m.group.stream
	if m.group.kind == consumersKind {
		subject = "$JS.API.CONSUMER.LEADER.STEPDOWN." + m.group.stream + "." + Workers
	}
	err = s.Ask(ctx, subject, map[string]any{"placement": map[string]string{"preferred": m.to}}, &struct{}{})
	api, told := errors.AsType[*jetstream.APIError](err)
	switch {
	case told:
		return true, fmt.Errorf("%w: %s stays at %s: %w", scheduler.ErrUnavailable, m.group.name(), m.group.leader, api)
	case err != nil && s.Forbidden(subject):
		s.Config.Logger.Warn("the leaders of streams stay unevenly distributed over the NATS servers: the NATS user may not move them",
			"stream", m.group.stream, "server", m.group.leader, "hint", "allow it to publish to "+subject)
		return false, nil
	case err != nil:
		return true, err
	}
	s.Config.Logger.Info("the leaders of streams were unevenly distributed over the NATS servers; one has moved",
		"of", m.group.kind, "stream", m.group.stream, "from", m.group.leader, "to", m.to)
	return true, nil
}
