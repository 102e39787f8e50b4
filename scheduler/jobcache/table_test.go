package jobcache

import (
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// step is something that happens to a table.
type step func(*table[string, string])

func begin(t *table[string, string]) { t.begin() }
func ready(t *table[string, string]) { t.ready() }
func lose(t *table[string, string])  { t.lose() }

// at is the place of a key in the first shard.
func at(key string) place {
	sum := fnv.New32a()
	_, _ = io.WriteString(sum, key)
	return place{mark: sum.Sum32()}
}

func tell(key, value string, revision uint64) step {
	return func(t *table[string, string]) {
		t.report(key, at(key), entry[string]{value: value, revision: revision, deleted: value == ""})
	}
}

func evict(key string, revision uint64) step {
	return func(t *table[string, string]) { t.evict(key, at(key), revision) }
}

// keep keeps a=x, which was read when the table had counted so many changes.
func keep(revision uint64, before uint32) step {
	return func(t *table[string, string]) {
		t.keep("a", at("a"), entry[string]{value: "x", revision: revision}, before)
	}
}

// shown lists the values of a table by key, with their revisions: those that can be relied upon, those that are known,
// and how many changes were counted.
func shown(t *table[string, string]) string {
	var peeked, known []string
	for key := range t.entries {
		if e, ok := t.peek(key); ok {
			peeked = append(peeked, fmt.Sprintf("%s=%s@%d", key, e.value, e.revision))
		}
		if e, ok := t.known(key); ok {
			known = append(known, fmt.Sprintf("%s=%s@%d", key, e.value, e.revision))
		}
	}
	slices.Sort(peeked)
	slices.Sort(known)
	return fmt.Sprintf("%s | %s | %d", strings.Join(peeked, " "), strings.Join(known, " "), t.shards[0].changes)
}

func newTable(shards int) *table[string, string] {
	return &table[string, string]{entries: map[string]entry[string]{}, shards: make([]shard, shards)}
}

func TestTable(t *testing.T) {
	tests := []struct {
		rule   string
		retain bool
		steps  []step
		want   string // peeked | known | changes
	}{
		{
			"without a watch nothing is taken in", false,
			[]step{tell("a", "x", 1)},
			" |  | 1",
		},
		{
			"without a watch nothing is kept", false,
			[]step{keep(1, 0)},
			" |  | 0",
		},
		{
			"nothing is kept before the watch stands", false,
			[]step{begin, keep(1, 0)},
			" |  | 0",
		},
		{
			"what a watch tells is not relied upon until it has told all", false,
			[]step{begin, tell("a", "x", 1)},
			" | a=x@1 | 1",
		},
		{
			"then it is", false,
			[]step{begin, tell("a", "x", 1), ready},
			"a=x@1 | a=x@1 | 1",
		},
		{
			"a later revision takes the place", false,
			[]step{begin, ready, tell("a", "x", 1), tell("a", "y", 2)},
			"a=y@2 | a=y@2 | 2",
		},
		{
			"an earlier one does not", false,
			[]step{begin, ready, tell("a", "y", 2), tell("a", "x", 1)},
			"a=y@2 | a=y@2 | 2",
		},
		{
			"the same one may be told again", false,
			[]step{begin, ready, tell("a", "x", 1), tell("a", "x", 1)},
			"a=x@1 | a=x@1 | 2",
		},
		{
			"a deletion takes the place", false,
			[]step{begin, ready, tell("a", "x", 1), tell("a", "", 2)},
			" |  | 2",
		},
		{
			"and is a revision like any other", false,
			[]step{begin, ready, tell("a", "", 2), tell("a", "x", 1)},
			" |  | 2",
		},
		{
			"after a deletion comes a new value", false,
			[]step{begin, ready, tell("a", "", 2), tell("a", "x", 3)},
			"a=x@3 | a=x@3 | 2",
		},
		{
			"a deletion before the watch stands counts", false,
			[]step{begin, tell("a", "x", 1), tell("a", "", 2), ready},
			" |  | 2",
		},

		{
			"when the watch is lost, nothing is known", false,
			[]step{begin, ready, tell("a", "x", 1), lose},
			" |  | 2",
		},
		{
			"nor from one that is lost too soon", false,
			[]step{begin, tell("a", "x", 1), lose},
			" |  | 2",
		},
		{
			"what is told late does not count", false,
			[]step{begin, ready, lose, tell("a", "x", 1)},
			" |  | 2",
		},
		{
			"with retain it stays known", true,
			[]step{begin, ready, tell("a", "x", 1), lose},
			" | a=x@1 | 2",
		},
		{
			"while the next watch is set up, too", true,
			[]step{begin, ready, tell("a", "x", 1), lose, begin},
			" | a=x@1 | 2",
		},
		{
			"until that has told all", true,
			[]step{begin, ready, tell("a", "x", 1), lose, begin, ready},
			" |  | 2",
		},
		{
			"what that names stays", true,
			[]step{begin, tell("a", "x", 1), tell("b", "z", 2), ready, lose, begin, tell("a", "x", 1), ready},
			"a=x@1 | a=x@1 | 4",
		},
		{
			"what that deletes is not known at once", true,
			[]step{begin, ready, tell("a", "x", 1), lose, begin, tell("a", "", 2)},
			" |  | 3",
		},
		{
			"a new watch is believed whatever the revision", true,
			[]step{begin, ready, tell("a", "x", 9), lose, begin, tell("a", "y", 1), ready},
			"a=y@1 | a=y@1 | 3",
		},

		{
			"what was read is kept", false,
			[]step{begin, ready, keep(1, 0)},
			"a=x@1 | a=x@1 | 0",
		},
		{
			"not after a change", false,
			[]step{begin, ready, evict("a", 2), keep(1, 0)},
			" |  | 1",
		},
		{
			"also of a key of the same shard", false,
			[]step{begin, ready, evict("b", 2), keep(1, 0)},
			" |  | 1",
		},
		{
			"but when it was read behind it", false,
			[]step{begin, ready, evict("b", 2), keep(1, 1)},
			"a=x@1 | a=x@1 | 1",
		},
		{
			"nor a value that is older than what was told of before it was read", false,
			[]step{begin, ready, evict("a", 2), keep(1, 1)},
			" |  | 1",
		},
		{
			"as soon as the replica knows it, it is", false,
			[]step{begin, ready, evict("a", 2), keep(2, 1)},
			"a=x@2 | a=x@2 | 1",
		},
		{
			"nor when another key was told of in between", false,
			[]step{begin, ready, evict("a", 2), evict("b", 3), keep(1, 2)},
			" |  | 2",
		},
		{
			"nor when one was that is written all the time", false,
			[]step{begin, ready, evict("a", 2), evict("b", 3), evict("b", 4), evict("c", 5), keep(1, 4)},
			" |  | 4",
		},
		{
			"but a later one", false,
			[]step{begin, ready, evict("a", 2), evict("b", 3), evict("b", 4), keep(2, 3)},
			"a=x@2 | a=x@2 | 3",
		},
		{
			"no replica lags behind so many changes", false,
			[]step{begin, ready, evict("c", 2), evict("b", 2+lagMost), keep(1, 2)},
			"a=x@1 | a=x@1 | 2",
		},
		{
			"another bucket counts anew", false,
			[]step{begin, ready, evict("a", 9), lose, begin, ready, keep(1, 2)},
			"a=x@1 | a=x@1 | 2",
		},
		{
			"a change removes an older value", false,
			[]step{begin, ready, keep(1, 0), evict("a", 2)},
			" |  | 1",
		},
		{
			"and not the one that it tells of", false,
			[]step{begin, ready, keep(2, 0), evict("a", 2)},
			"a=x@2 | a=x@2 | 1",
		},
		{
			"a change of another key removes nothing", false,
			[]step{begin, ready, keep(1, 0), evict("b", 2)},
			"a=x@1 | a=x@1 | 1",
		},
		{
			"nothing is kept of a read through which the watch was lost", false,
			[]step{begin, ready, lose, begin, ready, keep(1, 0)},
			" |  | 1",
		},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			tab := newTable(1)
			tab.retain = test.retain
			for _, s := range test.steps {
				s(tab)
			}
			if got := shown(tab); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestUnchanged shows that a change and the loss of the watch both count, and that without a watch nothing can be
// told.
func TestUnchanged(t *testing.T) {
	tests := []struct {
		steps []step
		want  bool
	}{
		{nil, false},
		{[]step{begin}, false},
		{[]step{begin, ready}, true},
		{[]step{begin, ready, evict("a", 1)}, false},
		{[]step{begin, ready, tell("a", "x", 1)}, false},
		{[]step{begin, ready, lose}, false},
		{[]step{begin, ready, lose, begin, ready}, false},
	}
	for i, test := range tests {
		tab := newTable(2)
		for _, s := range test.steps {
			s(tab)
		}
		if got := tab.unchanged(place{}, 0); got != test.want {
			t.Errorf("%d: got %t", i, got)
		}
		if other, want := tab.unchanged(place{shard: 1}, 0), tab.live && tab.watch == 1; other != want {
			t.Errorf("%d: the other shard: got %t, want %t", i, other, want)
		}
	}
}

// TestLimit shows that an eighth makes room when there is no more.
func TestLimit(t *testing.T) {
	for _, test := range []struct{ limit, kept, want int }{
		{16, 16, 16}, {16, 17, 15}, {16, 18, 16}, {16, 19, 15}, {4, 9, 4}, {1, 3, 1}, {0, 100, 100},
	} {
		tab := newTable(1)
		tab.limit, tab.live = test.limit, true
		for i := range test.kept {
			tab.keep(strconv.Itoa(i), at(strconv.Itoa(i)), entry[string]{value: "x", revision: 1}, 0)
		}
		if _, ok := tab.peek(strconv.Itoa(test.kept - 1)); !ok || len(tab.entries) != test.want {
			t.Errorf("%+v: %d entries, the last one is there: %t", test, len(tab.entries), ok)
		}
	}
}

// TestWeight has heavy values take the room of several, and give it back however they go.
func TestWeight(t *testing.T) {
	tab := newTable(1)
	tab.limit, tab.live = 16, true
	keep := func(key string, weight int) {
		tab.keep(key, at(key), entry[string]{value: "x", revision: 1, weight: weight}, tab.shards[0].changes)
	}
	weigh := func(what string, want int) {
		t.Helper()
		if tab.weight != want {
			t.Errorf("%s: %d, want %d", what, tab.weight, want)
		}
	}
	for i := range 16 {
		keep(strconv.Itoa(i), 0)
	}
	weigh("light ones", 16)
	keep("heavy", 10)
	if _, ok := tab.peek("heavy"); !ok || len(tab.entries) != 7 {
		t.Errorf("%d entries, the heavy one is there: %t", len(tab.entries), ok)
	}
	weigh("with a heavy one", 16)
	keep("heavy", 7)
	weigh("it is lighter now", 13)
	tab.evict("heavy", at("heavy"), 2)
	weigh("it has changed", 6)
	keep("too heavy", 100)
	weigh("alone", 100)
	tab.lose()
	weigh("nothing is kept", 0)
}
