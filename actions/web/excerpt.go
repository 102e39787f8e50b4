package web

import (
	"bytes"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/actions/netreason"
	"github.com/carillon-sched/carillon/scheduler"
)

// bodyReader takes in an answer's body: it keeps the beginning, looks for a text,
// and bounds how much is read. Values are pooled.
type bodyReader struct {
	head   [scheduler.MaxResponse + utf8.UTFMax]byte // the beginning, and whether it is cut inside a rune
	kept   int                                       // bytes in head
	total  int64                                     // bytes read
	ended  bool                                      // the body's end was seen
	found  bool                                      // the wanted text was seen
	window [8 << 10]byte                             // what was read last
	out    []byte                                    // where the message is put together
}

var bodyReaders = sync.Pool{New: func() any { return new(bodyReader) }}

// readVeiled is read, but what shows a secret is not looked at.
func (in *bodyReader) readVeiled(body io.Reader, limit int64, want []byte, secrets veil) error {
	if len(want) == 0 || !secrets.covers() {
		return in.read(body, limit, want)
	}
	search := &veiledSearch{want: want, veil: secrets}
	err := in.read(io.TeeReader(body, search), limit, nil)
	search.decide(true)
	in.found = search.found
	return err
}

// read reads body to its end, or up to limit bytes, and looks for want. The
// error is the body's own, never [io.EOF].
func (in *bodyReader) read(body io.Reader, limit int64, want []byte) error {
	in.kept, in.total, in.ended, in.found = 0, 0, false, len(want) == 0
	carried := 0 // bytes at the window's start that may begin an occurrence of want
	for in.total < limit {
		room := in.window[carried:]
		n, err := body.Read(room[:min(int64(len(room)), limit-in.total)])
		in.kept += copy(in.head[in.kept:], room[:n])
		in.total += int64(n)
		if !in.found {
			seen := in.window[:carried+n]
			in.found = bytes.Contains(seen, want)
			carried = copy(in.window[:], seen[max(0, len(seen)-len(want)+1):])
		}
		switch {
		case err == io.EOF:
			in.ended = true
			return nil
		case err != nil:
			return err
		}
	}
	return nil
}

// excerpt returns the beginning of the body, at most [scheduler.MaxResponse]
// bytes of valid UTF-8.
func (in *bodyReader) excerpt() []byte {
	b := in.head[:in.kept]
	if !utf8.Valid(b[:netreason.End(b, scheduler.MaxResponse)]) {
		b = bytes.ToValidUTF8(b, []byte("\uFFFD"))
	}
	return b[:netreason.End(b, scheduler.MaxResponse)]
}
