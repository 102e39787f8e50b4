package amqp

// widths holds the width of every known format code of a fixed width.
var widths = func() (widths [256]int8) {
	for i := range widths {
		widths[i] = -1
	}
	for _, code := range []byte{codeNull, codeTrue, codeFalse, codeUint0, codeUlong0, codeList0} {
		widths[code] = 0
	}
	for _, code := range []byte{
		codeUbyte, codeByte, codeSmallUint, codeSmallUlong, codeSmallInt, codeSmallLong, codeBoolean, codeUshort, codeShort,
		codeUint, codeInt, codeFloat, codeChar, codeDecimal32, codeUlong, codeLong, codeDouble, codeTimestamp, codeDecimal64,
		codeDecimal128, codeUUID,
	} {
		widths[code] = 1 << (code>>4 - 5)
	}
	return widths
}()

// skip goes over the next value and checks that it can be decoded, without allocating.
func (r *reader) skip() error {
	code, err := r.code()
	if err != nil {
		return err
	}
	if code != codeDescribed {
		return r.skipBody(code)
	}
	if err := r.enter(); err != nil {
		return err
	}
	defer func() { r.depth-- }()
	if err := r.skip(); err != nil {
		return err
	}
	return r.skip()
}

// skipBody goes over a value whose format code has been read.
func (r *reader) skipBody(code byte) error {
	if width := widths[code]; width >= 0 {
		_, err := r.take(int(width))
		return err
	}
	switch code {
	case codeBinary8, codeBinary32, codeString8, codeString32, codeSymbol8, codeSymbol32:
		_, err := r.variable(code)
		return err
	case codeList8, codeList32, codeMap8, codeMap32:
		return r.skipCompound(code)
	case codeArray8, codeArray32:
		return r.skipArray(code)
	default:
		return malformed("format code %#02x is unknown", code)
	}
}

func (r *reader) skipCompound(code byte) error {
	inner, count, err := r.open(code)
	if err != nil {
		return err
	}
	if isMap := code&0xf == 1; isMap && count%2 != 0 {
		return malformed("a map of %d keys and values", count)
	}
	for range count {
		if err := inner.skip(); err != nil {
			return err
		}
	}
	return r.shut(inner)
}

func (r *reader) skipArray(code byte) error {
	inner, count, err := r.open(code)
	if err != nil {
		return err
	}
	element, err := inner.code()
	if err != nil {
		return err
	}
	if element == codeDescribed {
		if err := inner.skip(); err != nil {
			return err
		}
		if element, err = inner.code(); err != nil {
			return err
		}
	}
	if element == codeDescribed {
		return malformed("a described value in a described array")
	}
	for range count {
		if err := inner.skipBody(element); err != nil {
			return err
		}
	}
	return r.shut(inner)
}
