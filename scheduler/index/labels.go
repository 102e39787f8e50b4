package index

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
)

// labels keeps the sets of labels that jobs have, each once. A record has the number of its set; 0 is the empty one.
type labels struct {
	pairs  []scheduler.Label // that are in any set
	pairOf map[scheduler.Label]uint32
	sets   [][]uint32 // the pairs of each, in order
	setOf  map[string]uint32
	uses   []uint32 // of each set
	unused int      // sets
}

func newLabels() *labels {
	return &labels{
		pairOf: map[scheduler.Label]uint32{}, sets: [][]uint32{nil}, setOf: map[string]uint32{"": 0}, uses: []uint32{0},
	}
}

// use returns the number of a set of labels, which one more job has.
func (l *labels) use(of []scheduler.Label) uint32 {
	set := make([]uint32, len(of))
	for i, pair := range of {
		n, known := l.pairOf[pair]
		if !known {
			pair = scheduler.Label{Name: strings.Clone(pair.Name), Value: strings.Clone(pair.Value)} // without the document
			n = uint32(len(l.pairs))
			l.pairs, l.pairOf[pair] = append(l.pairs, pair), n
		}
		set[i] = n
	}
	slices.Sort(set)
	name := make([]byte, 0, 4*len(set))
	for _, n := range set {
		name = binary.LittleEndian.AppendUint32(name, n)
	}
	n, known := l.setOf[string(name)]
	if !known {
		n = uint32(len(l.sets))
		l.sets, l.uses, l.setOf[string(name)] = append(l.sets, set), append(l.uses, 0), n
	} else if n != 0 && l.uses[n] == 0 {
		l.unused--
	}
	l.uses[n]++
	return n
}

// release tells that one job less has a set.
func (l *labels) release(n uint32) {
	l.uses[n]--
	if l.uses[n] == 0 && n != 0 {
		l.unused++
	}
}

// unusedMost is how many sets may be kept that no job has, besides as many as are in use.
const unusedMost = 1024

// wasteful reports whether most sets are of no use.
func (l *labels) wasteful() bool { return l.unused > unusedMost && l.unused > len(l.sets)/2 }

// of returns the labels of a set.
func (l *labels) of(n uint32) []scheduler.Label {
	of := make([]scheduler.Label, len(l.sets[n]))
	for i, pair := range l.sets[n] {
		of[i] = l.pairs[pair]
	}
	return of
}

// get returns the value of one label of a set.
func (l *labels) get(n uint32, name string) (string, bool) {
	for _, pair := range l.sets[n] {
		if l.pairs[pair].Name == name {
			return l.pairs[pair].Value, true
		}
	}
	return "", false
}

// actions are the types of actions that jobs have, by number.
type actions []string

// anyAction is the number of a type for which there was none left.
const anyAction = math.MaxUint8

// number returns that of a type.
func (a *actions) number(kind string) uint8 {
	i := slices.Index(*a, kind)
	if i < 0 && len(*a) < anyAction {
		i, *a = len(*a), append(*a, strings.Clone(kind))
	}
	if i < 0 {
		return anyAction
	}
	return uint8(i)
}
