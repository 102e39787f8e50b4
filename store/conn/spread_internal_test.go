package conn

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// lanesOf returns lanes of a three-server cluster by leader, such as "aab"; a capital letter has a lagging replica.
func lanesOf(leaders string) (groups []raftGroup) {
	for i, leader := range leaders {
		g := raftGroup{kind: "lanes", stream: fmt.Sprint("L", i), leader: string(leader), whole: true}
		switch leader {
		case '-':
			g.leader = ""
		case 'A', 'B', 'C':
			g.leader, g.whole = string(leader-'A'+'a'), false
		}
		for _, server := range []string{"a", "b", "c"} {
			if server != g.leader {
				g.ready = append(g.ready, server)
			}
		}
		groups = append(groups, g)
	}
	return groups
}

// TestSpreadNext decides from the leaders, the start of the imbalance and earlier moves.
func TestSpreadNext(t *testing.T) {
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	const patience = time.Minute
	long, short := now.Add(-patience), now.Add(-patience/2)
	for _, test := range []struct {
		name   string
		lanes  string
		uneven time.Time
		moved  map[string]time.Time
		want   string // the move
		since  time.Time
	}{
		{name: "even", lanes: "abc", uneven: long},
		{name: "one more", lanes: "abca", uneven: long},
		{name: "nothing", uneven: long},
		{name: "one of two", lanes: "aa", uneven: long, want: "L0 to b", since: long},
		{name: "all at one", lanes: "aaaa", uneven: long, want: "L0 to b", since: long},
		{name: "none at the last", lanes: "abab", uneven: long, want: "L0 to c", since: long},
		{name: "just now", lanes: "aaaa", since: now},
		{name: "for a while", lanes: "aaaa", uneven: short, since: short},
		{name: "one without leader", lanes: "aaa-", uneven: long},
		{name: "one that is behind", lanes: "aaaC", uneven: long},
		{name: "moved lately", lanes: "aaaa", uneven: long, moved: map[string]time.Time{"lanes L0": long}, want: "L1 to b", since: long},
		{
			name: "all moved lately", lanes: "aa", uneven: long,
			moved: map[string]time.Time{"lanes L0": long, "lanes L1": long},
		},
		{
			name: "all moved not long ago", lanes: "aa", uneven: long,
			moved: map[string]time.Time{"lanes L0": now.Add(1 - movedRests*patience), "lanes L1": now.Add(1 - movedRests*patience)},
		},
		{
			name: "moved long ago", lanes: "aa", uneven: long, moved: map[string]time.Time{"lanes L0": now.Add(-movedRests * patience)},
			want: "L0 to b", since: long,
		},
	} {
		s := spread{Uneven: test.uneven, Moved: test.moved}
		got := ""
		if m := s.next(lanesOf(test.lanes), now, patience); m != nil {
			got = m.group.stream + " to " + m.to
			if !s.Moved[m.group.name()].Equal(now) {
				t.Errorf("%s: it is not noted", test.name)
			}
		}
		if got != test.want || !s.Uneven.Equal(test.since) {
			t.Errorf("%s: moves %q, uneven since %s; want %q, %s", test.name, got, s.Uneven, test.want, test.since)
		}
	}
}

// TestGroupOfABusyStream: entries in transit to a replica, normal under load, do not prevent balancing.
func TestGroupOfABusyStream(t *testing.T) {
	for lag, whole := range map[uint64]bool{0: true, 1: true, spreadLag: true, spreadLag + 1: false} {
		g := groupOf("lanes", "L0", &jetstream.ClusterInfo{Leader: "a", Replicas: []*jetstream.PeerInfo{
			{Name: "c", Current: lag == 0, Lag: lag}, {Name: "b", Current: true},
		}})
		ready := []string{"b", "c"}
		if !whole {
			ready = ready[:1]
		}
		if g.whole != whole || !slices.Equal(g.ready, ready) {
			t.Errorf("%d entries behind: whole %t, ready %q", lag, g.whole, g.ready)
		}
	}
}

// TestSpreadEnds starts with any distribution: a few moves balance the leaders, which then stay.
func TestSpreadEnds(t *testing.T) {
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for n := 1; n <= 7; n++ {
		for code := range pow(3, n) {
			leaders := make([]byte, n)
			for i := range leaders {
				leaders[i], code = "abc"[code%3], code/3
			}
			began := string(leaders)
			var s spread
			moves := 0
			for ; ; moves++ {
				m := s.next(lanesOf(string(leaders)), now, 0)
				if m == nil {
					break
				}
				i := slices.IndexFunc(lanesOf(string(leaders)), func(g raftGroup) bool { return g.stream == m.group.stream })
				leaders[i] = m.to[0]
			}
			if most, least := extremes(string(leaders)); most-least > 1 || moves > n {
				t.Errorf("%s becomes %s in %d moves", began, leaders, moves)
			}
		}
	}
}

func pow(base, n int) int {
	all := 1
	for range n {
		all *= base
	}
	return all
}

// extremes returns the number of leaders on the busiest and the idlest server.
func extremes(leaders string) (most, least int) {
	counts := map[rune]int{'a': 0, 'b': 0, 'c': 0}
	for _, leader := range leaders {
		counts[leader]++
	}
	least = len(leaders)
	for _, n := range counts {
		most, least = max(most, n), min(least, n)
	}
	return most, least
}
