// Package fault injects faults: a client configures faults for operations on entities, and they apply in the order of
// configuration, each as often as configured. The protocol checks for them before every operation.
package fault

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
)

// An Operation is what a [Fault] befalls.
type Operation string

// The operations. A fault for AnyOperation applies to the next operation of any kind.
const (
	AnyOperation Operation = ""
	OpAttach     Operation = "attach"
	OpSend       Operation = "send"
	OpReceive    Operation = "receive"
	OpSettle     Operation = "settle"
	OpManage     Operation = "manage" // requests to $management
)

// A Fault is an injected fault. A delay may accompany the others.
type Fault struct {
	// Entity is the path of the entity, or "" for all.
	Entity    string
	Operation Operation
	// Count is the number of affected operations. Default: 1. Negative: all.
	Count int
	// Condition is the error of the operation, such as com.microsoft:server-busy. Empty: it does not fail.
	Condition   amqp.Symbol
	Description string
	// Delay is the wait before the operation.
	Delay time.Duration
	// Drop cuts the connection.
	Drop bool
}

// Err is the error with which the operation fails, or nil.
func (f Fault) Err() error {
	if f.Condition == "" {
		return nil
	}
	return &amqp.Error{Condition: f.Condition, Description: f.Description}
}

// befalls reports whether the fault is for an operation on an entity.
func (f Fault) befalls(entity string, operation Operation) bool {
	return (f.Entity == "" || strings.EqualFold(f.Entity, entity)) && (f.Operation == AnyOperation || f.Operation == operation)
}

// A List has the faults that have been ordered. The zero value has none.
type List struct {
	any  atomic.Bool
	mu   sync.Mutex
	list []Fault
}

// Add orders a fault. Faults befall in the order they were added.
func (f *List) Add(fault Fault) {
	fault.Count = cmp.Or(fault.Count, 1)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, fault)
	f.any.Store(true)
}

// Take returns the fault that befalls an operation on an entity. Without faults, it costs nothing.
func (f *List) Take(entity string, operation Operation) (Fault, bool) {
	if !f.any.Load() {
		return Fault{}, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.list, func(fault Fault) bool { return fault.befalls(entity, operation) })
	if i < 0 {
		return Fault{}, false
	}
	taken := f.list[i]
	if taken.Count > 0 {
		f.list[i].Count--
		if f.list[i].Count == 0 {
			f.list = slices.Delete(f.list, i, i+1)
			f.any.Store(len(f.list) > 0)
		}
	}
	return taken, true
}

// All returns the faults that have not befallen yet.
func (f *List) All() []Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.list)
}

// Clear forgets all faults.
func (f *List) Clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = nil
	f.any.Store(false)
}
