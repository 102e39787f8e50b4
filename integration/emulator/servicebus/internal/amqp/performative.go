package amqp

import (
	"math"
)

// A Performative is the head of a frame's body.
type Performative interface {
	// Append appends the encoding.
	Append(dst []byte) []byte
	decode(f *fields)
}

type (
	// Open begins a connection.
	Open struct {
		ContainerID  string
		Hostname     string
		MaxFrameSize uint32 // all ones if absent
		ChannelMax   uint16 // all ones if absent
		IdleTimeout  uint32 // in milliseconds; 0 for none
		Offered      []Symbol
		Desired      []Symbol
		Properties   Map
	}
	// Begin begins a session.
	Begin struct {
		RemoteChannel  Optional
		NextOutgoingID uint32
		IncomingWindow uint32
		OutgoingWindow uint32
		HandleMax      uint32 // all ones if absent
		Offered        []Symbol
		Desired        []Symbol
		Properties     Map
	}
	// Attach begins a link.
	Attach struct {
		Name                 string
		Handle               uint32
		Receiver             bool // the role of who sends the attach
		SndSettleMode        uint8
		RcvSettleMode        uint8
		Source               *Terminus
		Target               *Terminus
		InitialDeliveryCount uint32
		MaxMessageSize       uint64
		Offered              []Symbol
		Desired              []Symbol
		Properties           Map
	}
	// Flow carries the state of a session's windows and, with a handle, of a link's credit.
	Flow struct {
		NextIncomingID Optional
		IncomingWindow uint32
		NextOutgoingID uint32
		OutgoingWindow uint32
		Handle         Optional
		DeliveryCount  Optional
		LinkCredit     Optional
		Available      Optional
		Drain          bool
		Echo           bool
	}
	// Transfer is followed by a message or a part of one.
	Transfer struct {
		Handle        uint32
		DeliveryID    Optional
		DeliveryTag   []byte // part of the frame
		MessageFormat Optional
		Settled       bool
		More          bool
		State         State
		Aborted       bool
	}
	// Disposition carries the state of deliveries.
	Disposition struct {
		Receiver bool // the role of who sends the disposition
		First    uint32
		Last     uint32
		Settled  bool
		State    State
	}
	// Detach ends a link.
	Detach struct {
		Handle uint32
		Closed bool
		Error  *Error
	}
	// End ends a session.
	End struct{ Error *Error }
	// Close ends a connection.
	Close struct{ Error *Error }
)

// Settle modes of an attach.
const (
	SenderUnsettled = 0
	SenderSettled   = 1
	SenderMixed     = 2
	ReceiverFirst   = 0
	ReceiverSecond  = 1
)

// BatchFormat is the message format of a transfer whose data sections are messages themselves.
const BatchFormat = 0x80013700

// Decode decodes the body of an AMQP frame. The payload and a transfer's delivery tag are part of the body.
func Decode(body []byte) (_ Performative, payload []byte, err error) {
	r := newReader(body)
	descriptor := r.descriptor()
	if r.err != nil {
		return nil, nil, r.err
	}
	var p Performative
	switch descriptor {
	case descOpen:
		p = &Open{}
	case descBegin:
		p = &Begin{}
	case descAttach:
		p = &Attach{}
	case descFlow:
		p = &Flow{}
	case descTransfer:
		p = &Transfer{}
	case descDisposition:
		p = &Disposition{}
	case descDetach:
		p = &Detach{}
	case descEnd:
		p = &End{}
	case descClose:
		p = &Close{}
	default:
		return nil, nil, malformed("descriptor %#x where a performative is due", descriptor)
	}
	payload, err = r.finish(p)
	return p, payload, err
}

// finish decodes the fields of p and returns what follows them.
func (r *reader) finish(p Performative) (rest []byte, err error) {
	f := r.openFields()
	p.decode(&f)
	if err := f.close(); err != nil {
		return nil, err
	}
	return r.b, nil
}

// Append appends the encoding.
func (p *Open) Append(dst []byte) []byte {
	dst, mark := begin(append(dst, codeDescribed, codeSmallUlong, descOpen))
	dst = appendString(dst, p.ContainerID)
	dst = appendOptional(dst, p.Hostname)
	dst = appendUint(dst, p.MaxFrameSize)
	dst = Append(dst, p.ChannelMax)
	dst = appendPositive(dst, p.IdleTimeout)
	dst = append(dst, codeNull, codeNull) // locales
	dst = appendCapabilities(dst, p.Offered, p.Desired, p.Properties)
	return end(dst, mark, codeList8, 10)
}

func (p *Open) decode(f *fields) {
	p.ContainerID = f.text()
	p.Hostname = f.text()
	p.MaxFrameSize = f.uint(math.MaxUint32)
	p.ChannelMax = uint16(min(f.number(math.MaxUint16), math.MaxUint16))
	p.IdleTimeout = f.uint(0)
	_, _ = f.any(), f.any() // locales
	p.Offered, p.Desired, p.Properties = f.symbols(), f.symbols(), f.table()
}

// Append appends the encoding.
func (p *Begin) Append(dst []byte) []byte {
	dst, mark := begin(append(dst, codeDescribed, codeSmallUlong, descBegin))
	if p.RemoteChannel.Present {
		dst = Append(dst, uint16(p.RemoteChannel.Value))
	} else {
		dst = append(dst, codeNull)
	}
	dst = appendUint(dst, p.NextOutgoingID)
	dst = appendUint(dst, p.IncomingWindow)
	dst = appendUint(dst, p.OutgoingWindow)
	dst = appendUint(dst, p.HandleMax)
	dst = appendCapabilities(dst, p.Offered, p.Desired, p.Properties)
	return end(dst, mark, codeList8, 8)
}

func (p *Begin) decode(f *fields) {
	p.RemoteChannel = f.optional()
	p.NextOutgoingID = f.uint(0)
	p.IncomingWindow = f.uint(0)
	p.OutgoingWindow = f.uint(0)
	p.HandleMax = f.uint(math.MaxUint32)
	p.Offered, p.Desired, p.Properties = f.symbols(), f.symbols(), f.table()
}

// Append appends the encoding.
func (p *Attach) Append(dst []byte) []byte {
	dst, mark := begin(append(dst, codeDescribed, codeSmallUlong, descAttach))
	dst = appendString(dst, p.Name)
	dst = appendUint(dst, p.Handle)
	dst = appendBool(dst, p.Receiver)
	dst = append(dst, codeUbyte, p.SndSettleMode, codeUbyte, p.RcvSettleMode)
	dst = appendSource(dst, p.Source)
	dst = appendTarget(dst, p.Target)
	dst = append(dst, codeNull, codeNull) // unsettled, incomplete-unsettled
	if p.Receiver {
		dst = append(dst, codeNull)
	} else {
		dst = appendUint(dst, p.InitialDeliveryCount)
	}
	dst = appendUlong(dst, p.MaxMessageSize)
	dst = appendCapabilities(dst, p.Offered, p.Desired, p.Properties)
	return end(dst, mark, codeList8, 14)
}

func (p *Attach) decode(f *fields) {
	p.Name = f.text()
	p.Handle = f.uint(0)
	p.Receiver = f.bool()
	p.SndSettleMode = uint8(f.number(SenderMixed))
	p.RcvSettleMode = uint8(f.number(ReceiverFirst))
	p.Source = f.source()
	p.Target = f.target()
	_, _ = f.any(), f.any() // unsettled, incomplete-unsettled
	p.InitialDeliveryCount = f.uint(0)
	p.MaxMessageSize = f.number(0)
	p.Offered, p.Desired, p.Properties = f.symbols(), f.symbols(), f.table()
}

// Append appends the encoding.
func (p *Flow) Append(dst []byte) []byte {
	dst, mark := begin(append(dst, codeDescribed, codeSmallUlong, descFlow))
	dst = appendOptionalUint(dst, p.NextIncomingID)
	dst = appendUint(dst, p.IncomingWindow)
	dst = appendUint(dst, p.NextOutgoingID)
	dst = appendUint(dst, p.OutgoingWindow)
	dst = appendOptionalUint(dst, p.Handle)
	dst = appendOptionalUint(dst, p.DeliveryCount)
	dst = appendOptionalUint(dst, p.LinkCredit)
	dst = appendOptionalUint(dst, p.Available)
	dst = appendBool(dst, p.Drain)
	dst = appendBool(dst, p.Echo)
	dst = append(dst, codeNull)
	return end(dst, mark, codeList8, 11)
}

func (p *Flow) decode(f *fields) {
	p.NextIncomingID = f.optional()
	p.IncomingWindow = f.uint(0)
	p.NextOutgoingID = f.uint(0)
	p.OutgoingWindow = f.uint(0)
	p.Handle = f.optional()
	p.DeliveryCount = f.optional()
	p.LinkCredit = f.optional()
	p.Available = f.optional()
	p.Drain = f.bool()
	p.Echo = f.bool()
}

// Append appends the encoding.
func (p *Transfer) Append(dst []byte) []byte {
	dst, mark := begin(append(dst, codeDescribed, codeSmallUlong, descTransfer))
	dst = appendUint(dst, p.Handle)
	dst = appendOptionalUint(dst, p.DeliveryID)
	dst = appendOptionalBinary(dst, p.DeliveryTag)
	dst = appendOptionalUint(dst, p.MessageFormat)
	dst = appendBool(dst, p.Settled)
	dst = appendBool(dst, p.More)
	dst = append(dst, codeNull) // rcv-settle-mode
	dst = appendState(dst, p.State)
	dst = appendBool(dst, false) // resume
	dst = appendBool(dst, p.Aborted)
	dst = appendBool(dst, false) // batchable
	return end(dst, mark, codeList8, 11)
}

func (p *Transfer) decode(f *fields) {
	p.Handle = f.uint(0)
	p.DeliveryID = f.optional()
	p.DeliveryTag = f.bytes()
	p.MessageFormat = f.optional()
	p.Settled = f.bool()
	p.More = f.bool()
	_ = f.any() // rcv-settle-mode
	p.State = f.state(false)
	_ = f.bool() // resume
	p.Aborted = f.bool()
}

// Append appends the encoding.
func (p *Disposition) Append(dst []byte) []byte {
	dst, mark := begin(append(dst, codeDescribed, codeSmallUlong, descDisposition))
	dst = appendBool(dst, p.Receiver)
	dst = appendUint(dst, p.First)
	dst = appendUint(dst, p.Last)
	dst = appendBool(dst, p.Settled)
	dst = appendState(dst, p.State)
	dst = appendBool(dst, false) // batchable
	return end(dst, mark, codeList8, 6)
}

func (p *Disposition) decode(f *fields) {
	p.Receiver = f.bool()
	p.First = f.uint(0)
	p.Last = f.uint(p.First)
	p.Settled = f.bool()
	p.State = f.state(false)
}

// Append appends the encoding.
func (p *Detach) Append(dst []byte) []byte {
	dst, mark := begin(append(dst, codeDescribed, codeSmallUlong, descDetach))
	dst = appendUint(dst, p.Handle)
	dst = appendBool(dst, p.Closed)
	dst = appendError(dst, p.Error)
	return end(dst, mark, codeList8, 3)
}

func (p *Detach) decode(f *fields) {
	p.Handle = f.uint(0)
	p.Closed = f.bool()
	p.Error = f.error()
}

// Append appends the encoding.
func (p *End) Append(dst []byte) []byte { return appendEnd(dst, descEnd, p.Error) }

func (p *End) decode(f *fields) { p.Error = f.error() }

// Append appends the encoding.
func (p *Close) Append(dst []byte) []byte { return appendEnd(dst, descClose, p.Error) }

func (p *Close) decode(f *fields) { p.Error = f.error() }

func appendEnd(dst []byte, descriptor byte, e *Error) []byte {
	dst, mark := begin(append(dst, codeDescribed, codeSmallUlong, descriptor))
	dst = appendError(dst, e)
	return end(dst, mark, codeList8, 1)
}

// appendPositive appends a number, or null for 0.
func appendPositive(dst []byte, n uint32) []byte {
	if n == 0 {
		return append(dst, codeNull)
	}
	return appendUint(dst, n)
}

func appendCapabilities(dst []byte, offered, desired []Symbol, properties Map) []byte {
	dst = appendSymbols(dst, offered)
	dst = appendSymbols(dst, desired)
	return appendOptionalMap(dst, properties)
}

type (
	// SASLMechanisms offers mechanisms to the client.
	SASLMechanisms struct{ Mechanisms []Symbol }
	// SASLInit chooses one.
	SASLInit struct {
		Mechanism Symbol
		Response  []byte
		Hostname  string
	}
	// SASLOutcome ends the exchange; code 0 lets the client in, 1 does not.
	SASLOutcome struct{ Code uint8 }
)

// DecodeSASL decodes the body of a SASL frame.
func DecodeSASL(body []byte) (Performative, error) {
	r := newReader(body)
	descriptor := r.descriptor()
	if r.err != nil {
		return nil, r.err
	}
	var p Performative
	switch descriptor {
	case descSASLMechanisms:
		p = &SASLMechanisms{}
	case descSASLInit:
		p = &SASLInit{}
	case descSASLOutcome:
		p = &SASLOutcome{}
	default:
		return nil, malformed("descriptor %#x where a SASL frame is due", descriptor)
	}
	rest, err := r.finish(p)
	if err == nil && len(rest) > 0 {
		err = malformed("%d bytes after a SASL frame", len(rest))
	}
	return p, err
}

// Append appends the encoding.
func (p *SASLMechanisms) Append(dst []byte) []byte {
	dst, mark := begin(append(dst, codeDescribed, codeSmallUlong, descSASLMechanisms))
	dst = appendSymbols(dst, p.Mechanisms)
	return end(dst, mark, codeList8, 1)
}

func (p *SASLMechanisms) decode(f *fields) { p.Mechanisms = f.symbols() }

// Append appends the encoding.
func (p *SASLInit) Append(dst []byte) []byte {
	dst, mark := begin(append(dst, codeDescribed, codeSmallUlong, descSASLInit))
	dst = appendSymbol(dst, p.Mechanism)
	dst = appendOptionalBinary(dst, p.Response)
	dst = appendOptional(dst, p.Hostname)
	return end(dst, mark, codeList8, 3)
}

func (p *SASLInit) decode(f *fields) {
	p.Mechanism = Symbol(f.text())
	p.Response = f.binary()
	p.Hostname = f.text()
}

// Append appends the encoding.
func (p *SASLOutcome) Append(dst []byte) []byte {
	dst, mark := begin(append(dst, codeDescribed, codeSmallUlong, descSASLOutcome))
	dst = append(dst, codeUbyte, p.Code, codeNull)
	return end(dst, mark, codeList8, 2)
}

func (p *SASLOutcome) decode(f *fields) {
	p.Code = uint8(f.number(0))
	_ = f.bytes()
}
