package amqp

import "math"

// A Performative is the head of a frame's body.
type Performative interface {
	descriptor() byte
	// fields goes through the fields in the order of the standard.
	fields(c *composite)
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

// performatives are constructors, by descriptor.
var performatives = [...]func() Performative{
	descOpen:        func() Performative { return &Open{} },
	descBegin:       func() Performative { return &Begin{} },
	descAttach:      func() Performative { return &Attach{} },
	descFlow:        func() Performative { return &Flow{} },
	descTransfer:    func() Performative { return &Transfer{} },
	descDisposition: func() Performative { return &Disposition{} },
	descDetach:      func() Performative { return &Detach{} },
	descEnd:         func() Performative { return &End{} },
	descClose:       func() Performative { return &Close{} },
}

// Decode decodes the body of an AMQP frame. The payload and a transfer's delivery tag are part of the body.
func Decode(body []byte) (_ Performative, payload []byte, err error) {
	return decode(body, "a performative", performatives[:])
}

// decode decodes a performative that is due, and returns what follows it.
func decode(body []byte, due string, known []func() Performative) (Performative, []byte, error) {
	r := newReader(body)
	descriptor := r.descriptor()
	if r.err != nil {
		return nil, nil, r.err
	}
	if descriptor >= uint64(len(known)) || known[descriptor] == nil {
		return nil, nil, malformed("descriptor %#x where %s is due", descriptor, due)
	}
	p, f := known[descriptor](), r.openFields()
	p.fields(&composite{in: &f})
	if err := f.close(); err != nil {
		return nil, nil, err
	}
	return p, r.b, nil
}

// AppendPerformative appends the encoding of a performative.
func AppendPerformative(dst []byte, p Performative) []byte {
	return appendListed(dst, p.descriptor(), p.fields)
}

func (*Open) descriptor() byte        { return descOpen }
func (*Begin) descriptor() byte       { return descBegin }
func (*Attach) descriptor() byte      { return descAttach }
func (*Flow) descriptor() byte        { return descFlow }
func (*Transfer) descriptor() byte    { return descTransfer }
func (*Disposition) descriptor() byte { return descDisposition }
func (*Detach) descriptor() byte      { return descDetach }
func (*End) descriptor() byte         { return descEnd }
func (*Close) descriptor() byte       { return descClose }

func (p *Open) fields(c *composite) {
	c.text(&p.ContainerID)
	c.optionalText(&p.Hostname)
	c.uint(&p.MaxFrameSize, math.MaxUint32)
	number(c, &p.ChannelMax, math.MaxUint16)
	optional(c, &p.IdleTimeout, func(f *fields) uint32 { return f.uint(0) }, appendUint)
	c.unused(2) // locales
	c.capabilities(&p.Offered, &p.Desired, &p.Properties)
}

func (p *Begin) fields(c *composite) {
	optional(c, &p.RemoteChannel, (*fields).optional, func(dst []byte, n Optional) []byte { return Append(dst, uint16(n.Value)) })
	c.uint(&p.NextOutgoingID, 0)
	c.uint(&p.IncomingWindow, 0)
	c.uint(&p.OutgoingWindow, 0)
	c.uint(&p.HandleMax, math.MaxUint32)
	c.capabilities(&p.Offered, &p.Desired, &p.Properties)
}

func (p *Attach) fields(c *composite) {
	c.text(&p.Name)
	c.uint(&p.Handle, 0)
	c.bool(&p.Receiver)
	number(c, &p.SndSettleMode, SenderMixed)
	number(c, &p.RcvSettleMode, ReceiverFirst)
	optional(c, &p.Source, (*fields).source, appendSource)
	optional(c, &p.Target, (*fields).target, appendTarget)
	c.unused(2) // unsettled, incomplete-unsettled
	if p.Receiver {
		c.unused(1)
	} else {
		c.uint(&p.InitialDeliveryCount, 0)
	}
	number(c, &p.MaxMessageSize, 0)
	c.capabilities(&p.Offered, &p.Desired, &p.Properties)
}

func (p *Flow) fields(c *composite) {
	c.optional(&p.NextIncomingID)
	c.uint(&p.IncomingWindow, 0)
	c.uint(&p.NextOutgoingID, 0)
	c.uint(&p.OutgoingWindow, 0)
	c.optional(&p.Handle)
	c.optional(&p.DeliveryCount)
	c.optional(&p.LinkCredit)
	c.optional(&p.Available)
	c.bool(&p.Drain)
	c.bool(&p.Echo)
	c.unused(1) // properties
}

func (p *Transfer) fields(c *composite) {
	c.uint(&p.Handle, 0)
	c.optional(&p.DeliveryID)
	field(c, &p.DeliveryTag, (*fields).bytes, appendOptionalBinary)
	c.optional(&p.MessageFormat)
	c.bool(&p.Settled)
	c.bool(&p.More)
	c.unused(1) // rcv-settle-mode
	field(c, &p.State, (*fields).state, appendState)
	c.bool(new(bool)) // resume
	c.bool(&p.Aborted)
	c.bool(new(bool)) // batchable
}

func (p *Disposition) fields(c *composite) {
	c.bool(&p.Receiver)
	c.uint(&p.First, 0)
	c.uint(&p.Last, p.First)
	c.bool(&p.Settled)
	field(c, &p.State, (*fields).state, appendState)
	c.bool(new(bool)) // batchable
}

func (p *Detach) fields(c *composite) {
	c.uint(&p.Handle, 0)
	c.bool(&p.Closed)
	c.error(&p.Error)
}

func (p *End) fields(c *composite) { c.error(&p.Error) }

func (p *Close) fields(c *composite) { c.error(&p.Error) }

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

var saslPerformatives = [...]func() Performative{
	descSASLMechanisms: func() Performative { return &SASLMechanisms{} },
	descSASLInit:       func() Performative { return &SASLInit{} },
	descSASLOutcome:    func() Performative { return &SASLOutcome{} },
}

// DecodeSASL decodes the body of a SASL frame.
func DecodeSASL(body []byte) (Performative, error) {
	p, rest, err := decode(body, "a SASL frame", saslPerformatives[:])
	if err == nil && len(rest) > 0 {
		err = malformed("%d bytes after a SASL frame", len(rest))
	}
	return p, err
}

func (*SASLMechanisms) descriptor() byte { return descSASLMechanisms }
func (*SASLInit) descriptor() byte       { return descSASLInit }
func (*SASLOutcome) descriptor() byte    { return descSASLOutcome }

func (p *SASLMechanisms) fields(c *composite) { c.symbols(&p.Mechanisms) }

func (p *SASLInit) fields(c *composite) {
	field(c, &p.Mechanism, (*fields).symbol, appendSymbol)
	field(c, &p.Response, (*fields).binary, appendOptionalBinary)
	c.optionalText(&p.Hostname)
}

func (p *SASLOutcome) fields(c *composite) {
	number(c, &p.Code, 0)
	c.unused(1) // additional-data
}
