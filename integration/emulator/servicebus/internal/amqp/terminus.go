package amqp

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

func appendSource(dst []byte, t *Terminus) []byte {
	if t == nil {
		return append(dst, codeNull)
	}
	dst, mark := begin(append(dst, codeDescribed, codeSmallUlong, descSource))
	dst = t.appendNode(dst)
	dst = appendOptionalSymbol(dst, t.DistributionMode)
	dst = appendOptionalMap(dst, t.Filter)
	dst = Append(dst, t.DefaultOutcome)
	dst = appendSymbols(dst, t.Outcomes)
	dst = appendSymbols(dst, t.Capabilities)
	return end(dst, mark, codeList8, 11)
}

func appendTarget(dst []byte, t *Terminus) []byte {
	switch {
	case t == nil:
		return append(dst, codeNull)
	case t.Coordinator:
		dst, mark := begin(append(dst, codeDescribed, codeSmallUlong, descCoordinator))
		dst = appendSymbols(dst, t.Capabilities)
		return end(dst, mark, codeList8, 1)
	default:
		dst, mark := begin(append(dst, codeDescribed, codeSmallUlong, descTarget))
		dst = t.appendNode(dst)
		dst = appendSymbols(dst, t.Capabilities)
		return end(dst, mark, codeList8, 7)
	}
}

// appendNode appends the six fields that sources and targets begin with.
func (t *Terminus) appendNode(dst []byte) []byte {
	dst = appendOptional(dst, t.Address)
	dst = appendUint(dst, t.Durable)
	dst = appendOptionalSymbol(dst, t.ExpiryPolicy)
	dst = appendUint(dst, t.Timeout)
	dst = appendBool(dst, t.Dynamic)
	return appendOptionalMap(dst, t.NodeProps)
}

func appendSymbols(dst []byte, symbols []Symbol) []byte {
	if len(symbols) == 0 {
		return append(dst, codeNull)
	}
	items := make(Array, len(symbols))
	for i, symbol := range symbols {
		items[i] = symbol
	}
	return appendArray(dst, items)
}

func (f *fields) source() *Terminus {
	descriptor, inner, ok := f.described()
	if !ok {
		return nil
	}
	if descriptor != descSource {
		f.fail(malformed("descriptor %#x where a source is due", descriptor))
		return nil
	}
	t := inner.node()
	t.DistributionMode = Symbol(inner.text())
	t.Filter = inner.table()
	t.DefaultOutcome = inner.any()
	t.Outcomes = inner.symbols()
	t.Capabilities = inner.symbols()
	f.done(&inner)
	return t
}

func (f *fields) target() *Terminus {
	descriptor, inner, ok := f.described()
	if !ok {
		return nil
	}
	var t *Terminus
	switch descriptor {
	case descTarget:
		t = inner.node()
		t.Capabilities = inner.symbols()
	case descCoordinator:
		t = &Terminus{Coordinator: true, Capabilities: inner.symbols()}
	default:
		f.fail(malformed("descriptor %#x where a target is due", descriptor))
		return nil
	}
	f.done(&inner)
	return t
}

func (f *fields) node() *Terminus {
	return &Terminus{
		Address: f.text(), Durable: f.uint(0), ExpiryPolicy: Symbol(f.text()), Timeout: f.uint(0), Dynamic: f.bool(),
		NodeProps: f.table(),
	}
}
