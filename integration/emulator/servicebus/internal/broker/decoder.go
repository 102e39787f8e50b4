package broker

import "encoding/binary"

// A decoder reads a record from the front. After an error all is zero.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) byte() byte {
	if d.err != nil || len(d.b) == 0 {
		d.err = errRecord
		return 0
	}
	b := d.b[0]
	d.b = d.b[1:]
	return b
}

func (d *decoder) part() part {
	p := part(d.byte())
	if p >= parts {
		d.err = errRecord
	}
	return p
}

func (d *decoder) number() uint64 {
	number, n := binary.Uvarint(d.b)
	if d.err != nil || n <= 0 {
		d.err = errRecord
		return 0
	}
	d.b = d.b[n:]
	return number
}

func (d *decoder) bytes() []byte {
	n := d.number()
	if d.err != nil || n > uint64(len(d.b)) {
		d.err = errRecord
		return nil
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}
