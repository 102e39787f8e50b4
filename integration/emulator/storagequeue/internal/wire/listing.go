package wire

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
)

// A Listing is a page of an account's queues.
type Listing struct {
	Endpoint   string
	Prefix     string // "" for none, as the next two
	Marker     string
	MaxResults int // 0 for none
	Queues     []Queue
	NextMarker string
}

// A Queue is an entry of a listing.
type Queue struct {
	Name     string
	Metadata map[string]string // names as their client wrote them; nil when it was not asked for
}

// Body is the listing as the service answers it.
func (l Listing) Body() []byte {
	var b bytes.Buffer
	b.WriteString(declaration)
	b.WriteString(`<EnumerationResults ServiceEndpoint="`)
	escape(&b, l.Endpoint)
	b.WriteString(`">`)
	optional(&b, "Prefix", l.Prefix)
	optional(&b, "Marker", l.Marker)
	if l.MaxResults > 0 {
		element(&b, "MaxResults", strconv.Itoa(l.MaxResults))
	}
	b.WriteString("<Queues>")
	for _, queue := range l.Queues {
		b.WriteString("<Queue>")
		element(&b, "Name", queue.Name)
		if queue.Metadata != nil {
			b.WriteString("<Metadata>")
			for _, name := range slices.Sorted(maps.Keys(queue.Metadata)) {
				element(&b, name, queue.Metadata[name])
			}
			b.WriteString("</Metadata>")
		}
		b.WriteString("</Queue>")
	}
	b.WriteString("</Queues>")
	element(&b, "NextMarker", l.NextMarker)
	b.WriteString("</EnumerationResults>")
	return b.Bytes()
}
