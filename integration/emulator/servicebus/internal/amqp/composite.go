package amqp

import "time"

// A composite goes through the fields of a described list of the standard, either to read or to append them. The type of
// the list names each field once, in order.
type composite struct {
	in    *fields // to read; nil: to append
	out   []byte
	count int // of the fields appended
}

// appendListed appends a list with its descriptor.
func appendListed(dst []byte, descriptor byte, list func(*composite)) []byte {
	dst, mark := begin(append(dst, codeDescribed, codeSmallUlong, descriptor))
	c := composite{out: dst}
	list(&c)
	return end(c.out, mark, codeList8, c.count)
}

// list reads the next field by its descriptor, as one of the given lists. It returns false for an absent field.
func (f *fields) list(due string, lists map[uint64]func(*composite)) bool {
	descriptor, inner, ok := f.described()
	if !ok {
		return false
	}
	list, ok := lists[descriptor]
	if !ok {
		f.fail(malformed("descriptor %#x where %s is due", descriptor, due))
		return false
	}
	list(&composite{in: &inner})
	f.done(&inner)
	return true
}

// field reads or appends the next field.
func field[T any](c *composite, v *T, read func(*fields) T, write func([]byte, T) []byte) {
	if c.in != nil {
		*v = read(c.in)
		return
	}
	c.out = write(c.out, *v)
	c.count++
}

// optional is field for a type whose zero value means absent, and appends null for it.
func optional[T comparable](c *composite, v *T, read func(*fields) T, write func([]byte, T) []byte) {
	var none T
	if c.in == nil && *v == none {
		c.unused(1)
		return
	}
	field(c, v, read, write)
}

// number is an unsigned integer of any width. A larger value than the type holds becomes its largest.
func number[T uint8 | uint16 | uint32 | uint64](c *composite, v *T, absent T) {
	field(c, v, func(f *fields) T { return T(min(f.number(uint64(absent)), uint64(^T(0)))) }, func(dst []byte, v T) []byte {
		return Append(dst, v)
	})
}

func (c *composite) uint(v *uint32, absent uint32) {
	field(c, v, func(f *fields) uint32 { return f.uint(absent) }, appendUint)
}

func (c *composite) optional(v *Optional)     { optional(c, v, (*fields).optional, appendSome) }
func (c *composite) bool(v *bool)             { field(c, v, (*fields).bool, appendBool) }
func (c *composite) text(v *string)           { field(c, v, (*fields).text, appendString) }
func (c *composite) optionalText(v *string)   { optional(c, v, (*fields).text, appendString) }
func (c *composite) optionalSymbol(v *Symbol) { optional(c, v, (*fields).symbol, appendSymbol) }
func (c *composite) time(v *time.Time)        { optional(c, v, (*fields).time, appendTime) }
func (c *composite) symbols(v *[]Symbol)      { field(c, v, (*fields).symbols, appendSymbols) }
func (c *composite) table(v *Map)             { field(c, v, (*fields).table, appendOptionalMap) }
func (c *composite) any(v *any)               { field(c, v, (*fields).any, Append) }
func (c *composite) error(v **Error)          { optional(c, v, (*fields).error, appendError) }

func (c *composite) capabilities(offered, desired *[]Symbol, properties *Map) {
	c.symbols(offered)
	c.symbols(desired)
	c.table(properties)
}

// unused skips n fields without a meaning here, or appends null for each.
func (c *composite) unused(n int) {
	for range n {
		c.any(new(any))
	}
}
