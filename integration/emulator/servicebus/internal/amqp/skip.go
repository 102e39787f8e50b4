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
func (r *reader) skip() {
	code := r.code()
	if code != codeDescribed {
		r.skipBody(code)
		return
	}
	r.enter()
	r.skip()
	r.skip()
	r.depth--
}

// skipBody goes over a value whose format code has been read.
func (r *reader) skipBody(code byte) {
	if width := widths[code]; width >= 0 {
		r.take(int(width))
		return
	}
	switch code {
	case codeBinary8, codeBinary32, codeString8, codeString32, codeSymbol8, codeSymbol32:
		r.variable(code)
	case codeList8, codeList32, codeMap8, codeMap32:
		r.skipCompound(code)
	case codeArray8, codeArray32:
		r.skipArray(code)
	default:
		r.unknown(code)
	}
}

func (r *reader) skipCompound(code byte) {
	inner, count := r.open(code)
	if isMap := code&0xf == 1; isMap {
		inner.pairs(count)
	}
	for range count {
		inner.skip()
	}
	r.shut(inner)
}

func (r *reader) skipArray(code byte) {
	inner, count := r.open(code)
	element := inner.code()
	if element == codeDescribed {
		inner.skip()
		if element = inner.code(); element == codeDescribed {
			inner.fail(malformed("a described value in a described array"))
		}
	}
	for range count {
		inner.skipBody(element)
	}
	r.shut(inner)
}
