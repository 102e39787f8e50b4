package amqp

import "fmt"

// A State is the state of a delivery: [Accepted], [Rejected], [Released], [Modified], [Received], [Declared] or
// [Transactional], or nil.
type State interface {
	appendTo(dst []byte) []byte
}

type (
	// Accepted reports that the delivery was accepted.
	Accepted struct{}
	// Released gives the delivery back as if it had never been sent.
	Released struct{}
	// Rejected refuses the delivery.
	Rejected struct{ Error *Error }
	// Modified gives the delivery back with changes.
	Modified struct {
		DeliveryFailed    bool
		UndeliverableHere bool
		Annotations       Map
	}
	// Received carries the received part of a delivery.
	Received struct {
		Section uint32
		Offset  uint64
	}
	// Declared answers a [Declare] with the id of the transaction.
	Declared struct{ TxnID []byte }
	// Transactional is an outcome, or nil, under a transaction.
	Transactional struct {
		TxnID   []byte
		Outcome State
	}
)

// An Error reports a problem to the peer.
type Error struct {
	Condition   Symbol
	Description string
	Info        Map
}

// Errorf returns an error with a condition and a formatted description.
func Errorf(condition Symbol, format string, args ...any) *Error {
	return &Error{Condition: condition, Description: fmt.Sprintf(format, args...)}
}

// Error is the condition and its description.
func (e *Error) Error() string {
	if e.Description == "" {
		return string(e.Condition)
	}
	return string(e.Condition) + ": " + e.Description
}

func (Accepted) appendTo(dst []byte) []byte {
	return append(dst, codeDescribed, codeSmallUlong, descAccepted, codeList0)
}

func (Released) appendTo(dst []byte) []byte {
	return append(dst, codeDescribed, codeSmallUlong, descReleased, codeList0)
}

func (s Rejected) appendTo(dst []byte) []byte {
	if s.Error == nil {
		return append(dst, codeDescribed, codeSmallUlong, descRejected, codeList0)
	}
	dst, mark := begin(append(dst, codeDescribed, codeSmallUlong, descRejected))
	dst = appendError(dst, s.Error)
	return end(dst, mark, codeList8, 1)
}

func (s Modified) appendTo(dst []byte) []byte {
	dst, mark := begin(append(dst, codeDescribed, codeSmallUlong, descModified))
	dst = appendBool(dst, s.DeliveryFailed)
	dst = appendBool(dst, s.UndeliverableHere)
	dst = appendOptionalMap(dst, s.Annotations)
	return end(dst, mark, codeList8, 3)
}

func (s Received) appendTo(dst []byte) []byte {
	dst, mark := begin(append(dst, codeDescribed, codeSmallUlong, descReceived))
	dst = appendUint(dst, s.Section)
	dst = appendUlong(dst, s.Offset)
	return end(dst, mark, codeList8, 2)
}

func (s Declared) appendTo(dst []byte) []byte {
	dst, mark := begin(append(dst, codeDescribed, codeSmallUlong, descDeclared))
	dst = Append(dst, s.TxnID)
	return end(dst, mark, codeList8, 1)
}

func (s Transactional) appendTo(dst []byte) []byte {
	dst, mark := begin(append(dst, codeDescribed, codeSmallUlong, descTransactional))
	dst = Append(dst, s.TxnID)
	dst = appendState(dst, s.Outcome)
	return end(dst, mark, codeList8, 2)
}

func appendState(dst []byte, state State) []byte {
	if state == nil {
		return append(dst, codeNull)
	}
	return state.appendTo(dst)
}

// state decodes a delivery state. A transactional state cannot nest another.
func (f *fields) state() State {
	descriptor, inner, ok := f.described()
	if !ok {
		return nil
	}
	var state State
	switch descriptor {
	case descAccepted:
		state = Accepted{}
	case descReleased:
		state = Released{}
	case descRejected:
		state = Rejected{Error: inner.error()}
	case descModified:
		state = Modified{DeliveryFailed: inner.bool(), UndeliverableHere: inner.bool(), Annotations: inner.table()}
	case descReceived:
		state = Received{Section: inner.uint(0), Offset: inner.number(0)}
	case descDeclared:
		state = Declared{TxnID: inner.binary()}
	case descTransactional:
		transactional := Transactional{TxnID: inner.binary(), Outcome: inner.state()}
		if _, nested := transactional.Outcome.(Transactional); nested {
			f.fail(malformed("a transactional state within another"))
			return nil
		}
		state = transactional
	default:
		f.fail(malformed("descriptor %#x where a delivery state is due", descriptor))
		return nil
	}
	f.done(&inner)
	return state
}

// done ends the fields of a described list within f.
func (f *fields) done(inner *fields) { f.fail(inner.close()) }

func appendError(dst []byte, e *Error) []byte { return appendListed(dst, descError, e.fields) }

func (e *Error) fields(c *composite) {
	field(c, &e.Condition, (*fields).symbol, appendSymbol)
	c.optionalText(&e.Description)
	c.table(&e.Info)
}

func (f *fields) error() *Error {
	e := &Error{}
	if !f.list("an error", map[uint64]func(*composite){descError: e.fields}) {
		return nil
	}
	return e
}

func appendOptionalMap(dst []byte, pairs Map) []byte {
	if len(pairs) == 0 {
		return append(dst, codeNull)
	}
	return appendMap(dst, codeMap8, pairs)
}

// Discharge ends a transaction.
type Discharge struct {
	TxnID []byte
	Fail  bool // roll back
}

// Declare begins a transaction.
type Declare struct{}

// ParseRequest returns the request in a message to the coordinator: a [Declare] or a [Discharge].
func ParseRequest(m Message) (any, error) {
	value, _ := m.Value()
	described, ok := value.(Described)
	if !ok {
		return nil, malformed("%T where a described value is due", value)
	}
	items, _ := described.Value.(List)
	switch described.Descriptor {
	case uint64(descDeclare), Symbol("amqp:declare:list"):
		return Declare{}, nil
	case uint64(descDischarge), Symbol("amqp:discharge:list"):
		discharge := Discharge{}
		if len(items) > 0 {
			discharge.TxnID, _ = items[0].([]byte)
		}
		if len(items) > 1 {
			discharge.Fail, _ = items[1].(bool)
		}
		return discharge, nil
	default:
		return nil, malformed("descriptor %v where a request to the coordinator is due", described.Descriptor)
	}
}

// Append appends the request as a message.
func (d Discharge) Append(dst []byte) []byte {
	return AppendValue(dst, Described{uint64(descDischarge), List{d.TxnID, d.Fail}})
}

// Append appends the request as a message.
func (Declare) Append(dst []byte) []byte {
	return AppendValue(dst, Described{uint64(descDeclare), List{nil}})
}

// A Terminus is the far end of a link: a source, a target or a coordinator.
type Terminus struct {
	Address      string
	Dynamic      bool
	Durable      uint32
	ExpiryPolicy Symbol
	Timeout      uint32
	NodeProps    Map
	Capabilities []Symbol

	// DistributionMode, Filter, DefaultOutcome and Outcomes are of sources alone.
	DistributionMode Symbol
	Filter           Map
	DefaultOutcome   any
	Outcomes         []Symbol

	// Coordinator marks the target of a link that controls transactions; only Capabilities goes with it.
	Coordinator bool
}

func appendSource(dst []byte, t *Terminus) []byte { return appendListed(dst, descSource, t.source) }

func appendTarget(dst []byte, t *Terminus) []byte {
	if t.Coordinator {
		return appendListed(dst, descCoordinator, t.coordinator)
	}
	return appendListed(dst, descTarget, t.target)
}

func (f *fields) source() *Terminus {
	t := &Terminus{}
	if !f.list("a source", map[uint64]func(*composite){descSource: t.source}) {
		return nil
	}
	return t
}

func (f *fields) target() *Terminus {
	t := &Terminus{}
	if !f.list("a target", map[uint64]func(*composite){descTarget: t.target, descCoordinator: t.coordinator}) {
		return nil
	}
	return t
}

func (t *Terminus) source(c *composite) {
	t.node(c)
	c.optionalSymbol(&t.DistributionMode)
	c.table(&t.Filter)
	c.any(&t.DefaultOutcome)
	c.symbols(&t.Outcomes)
	c.symbols(&t.Capabilities)
}

func (t *Terminus) target(c *composite) {
	t.node(c)
	c.symbols(&t.Capabilities)
}

func (t *Terminus) coordinator(c *composite) {
	t.Coordinator = true
	c.symbols(&t.Capabilities)
}

// node is the six fields that sources and targets begin with.
func (t *Terminus) node(c *composite) {
	c.optionalText(&t.Address)
	c.uint(&t.Durable, 0)
	c.optionalSymbol(&t.ExpiryPolicy)
	c.uint(&t.Timeout, 0)
	c.bool(&t.Dynamic)
	c.table(&t.NodeProps)
}

func appendSymbols(dst []byte, symbols []Symbol) []byte {
	if len(symbols) == 0 {
		return append(dst, codeNull)
	}
	items := make(Array, len(symbols))
	for i, symbol := range symbols {
		items[i] = symbol
	}
	return appendArray(dst, codeArray8, items)
}
