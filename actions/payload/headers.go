package payload

import (
	"unicode/utf8"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// The limits of the headers of an action, of whatever protocol (Azure Scheduler Limits, Defaults, and Error Codes).
const (
	maxHeaders    = 50
	maxHeaderSize = 4096 // characters of all names and values together
)

// ReadHeaders calls add for every member of the object headers of o that is not null, and checks the limits. add returns how many
// characters the value has, as far as that is known, or what is wrong with the header.
func ReadHeaders(o *document.Object, add func(ho *document.Object, m document.Member) (int, error)) {
	v, ok := o.Value("headers")
	if !ok {
		return
	}
	ho := o.Reader().Object(v, o.Path("headers"))
	count, size := 0, 0
	for _, m := range v.Members() {
		if m.Value.Kind() == document.KindNull {
			continue // absent
		}
		count++
		n, err := add(ho, m)
		if err != nil {
			ho.Problem(m.Name, "%v", err)
		}
		size += utf8.RuneCountInString(m.Name) + n
	}
	if count > maxHeaders {
		ho.Problem("", "has %d headers, at most %d are allowed", count, maxHeaders)
	}
	if size > maxHeaderSize {
		ho.Problem("", "names and values are %d characters long together, at most %d are allowed", size, maxHeaderSize)
	}
}
