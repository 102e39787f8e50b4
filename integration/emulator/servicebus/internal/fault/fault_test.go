package fault_test

import (
	"errors"
	"testing"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/fault"
)

func TestFaults(t *testing.T) {
	const busy = "com.microsoft:server-busy"
	var faults fault.List
	faults.Add(fault.Fault{Entity: "Q", Operation: fault.OpSend, Condition: busy, Count: 2})
	faults.Add(fault.Fault{Drop: true})
	if _, ok := faults.Take("other", fault.OpSend); !ok {
		t.Error("the fault for all does not befall")
	}
	if _, ok := faults.Take("q", fault.OpReceive); ok {
		t.Error("a fault of another operation")
	}
	for range 2 {
		taken, ok := faults.Take("q", fault.OpSend)
		if refused, is := errors.AsType[*amqp.Error](taken.Err()); !is || refused.Condition != busy {
			t.Error(taken.Err())
		}
		if !ok || len(faults.All()) > 1 {
			t.Error(ok, faults.All())
		}
	}
	if _, ok := faults.Take("q", fault.OpSend); ok {
		t.Error("more than was ordered")
	}
	faults.Add(fault.Fault{Count: -1})
	for range 5 {
		if taken, ok := faults.Take("x", fault.OpManage); !ok || taken.Err() != nil {
			t.Error("no fault")
		}
	}
	faults.Clear()
	if _, ok := faults.Take("x", fault.OpManage); ok {
		t.Error("a fault after all were cleared")
	}
}
