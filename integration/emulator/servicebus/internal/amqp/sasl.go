package amqp

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
