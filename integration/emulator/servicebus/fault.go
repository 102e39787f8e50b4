package servicebus

import (
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/fault"
)

// A Fault is something that goes wrong on purpose, such as the next three sends to an entity failing as busy.
type Fault = fault.Fault

// A Condition is what an error of the service is known by, such as com.microsoft:server-busy.
type Condition = amqp.Symbol

// An Operation is what a [Fault] befalls.
type Operation = fault.Operation

// The operations. A fault for AnyOperation befalls the next, whatever it is.
const (
	AnyOperation = fault.AnyOperation
	OpAttach     = fault.OpAttach
	OpSend       = fault.OpSend
	OpReceive    = fault.OpReceive
	OpSettle     = fault.OpSettle
	OpManage     = fault.OpManage // requests to $management
)

// Inject orders a fault.
func (s *Server) Inject(fault Fault) { s.broker.Faults().Add(fault) }

// Heal forgets all faults that have not befallen yet.
func (s *Server) Heal() { s.broker.Faults().Clear() }

// Disconnect cuts all connections as a broken network would, and returns how many there were.
func (s *Server) Disconnect() int { return s.protocol.Drop() }
