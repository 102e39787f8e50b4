package broker

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
)

// An operation is what the tally tells apart.
type operation uint8

const (
	sendOperation operation = iota
	receiveOperation
	settleOperations // those of settling follow in the order of [OutcomeKind]
)

const operations = settleOperations + operation(MoveDeadLetter) + 1

// String is the name of the operation in metrics.
func (o operation) String() string {
	return [...]string{"send", "receive", "complete", "abandon", "release", "defer", "dead_letter"}[o]
}

// succeeded is the outcome of operations that have no condition.
const succeeded = "ok"

// A tally counts messages by operation and outcome.
type tally struct {
	good   [operations]atomic.Int64
	mu     sync.Mutex
	failed map[failure]int64
}

type failure struct {
	operation operation
	condition string
}

// count counts n messages that an operation was about, and its outcome.
func (t *tally) count(o operation, n int, err error) {
	if err == nil {
		t.good[o].Add(int64(n))
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failed == nil {
		t.failed = map[failure]int64{}
	}
	t.failed[failure{o, cmp.Or(string(Condition(err)), string(InternalError))}] += int64(n)
}

// A Tally is how many messages were sent, received or settled with an outcome: "ok", or the condition of the error.
type Tally struct {
	Operation string
	Outcome   string
	Messages  int64
}

// Tallies returns what was counted since the broker was made: what went well first, then errors in order.
func (b *Broker) Tallies() []Tally {
	t := &b.tally
	all := make([]Tally, 0, operations)
	for o := range operations {
		all = append(all, Tally{o.String(), succeeded, t.good[o].Load()})
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for f, n := range t.failed {
		all = append(all, Tally{f.operation.String(), f.condition, n})
	}
	slices.SortFunc(all[operations:], func(a, b Tally) int {
		return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Outcome, b.Outcome))
	})
	return all
}
