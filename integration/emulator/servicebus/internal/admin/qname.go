package admin

import (
	"encoding/xml"
	"io"
	"slices"
	"strings"
)

// A qualifier reads the tokens of a document and resolves what their attributes "type" of XML Schema name: "p:int" becomes
// "{namespace}int". A prefix means what the document has declared for it, whatever other clients call it.
type qualifier struct {
	decoder *xml.Decoder
	spaces  map[string]string // the namespaces of prefixes; "" is the default
	opened  [][]binding       // what the declarations of each open element have replaced
}

// A binding is a prefix and its namespace.
type binding struct{ prefix, space string }

// newDecoder returns a decoder with such names.
func newDecoder(r io.Reader) *xml.Decoder {
	return xml.NewTokenDecoder(&qualifier{decoder: xml.NewDecoder(r), spaces: map[string]string{}})
}

// Token returns the next token with prefixes as they stand.
func (q *qualifier) Token() (xml.Token, error) {
	token, err := q.decoder.RawToken()
	switch t := token.(type) {
	case xml.StartElement:
		q.open(t.Attr)
	case xml.EndElement:
		q.end()
	}
	return token, err
}

// open begins an element and resolves its type.
func (q *qualifier) open(attributes []xml.Attr) {
	var replaced []binding
	for _, a := range attributes {
		prefix := a.Name.Local
		switch {
		case a.Name.Space == "xmlns":
		case a.Name.Space == "" && prefix == "xmlns":
			prefix = ""
		default:
			continue
		}
		replaced = append(replaced, binding{prefix, q.spaces[prefix]})
		q.spaces[prefix] = a.Value
	}
	q.opened = append(q.opened, replaced)
	for i, a := range attributes {
		if a.Name.Local != "type" || a.Name.Space == "" || q.spaces[a.Name.Space] != instanceSpace {
			continue
		}
		prefix, local, ok := strings.Cut(strings.TrimSpace(a.Value), ":")
		if !ok {
			prefix, local = "", prefix
		}
		if space := q.spaces[prefix]; space != "" {
			attributes[i].Value = "{" + space + "}" + local
		}
	}
}

// end ends an element. That there may be one too many is for the decoder above to find.
func (q *qualifier) end() {
	if len(q.opened) == 0 {
		return
	}
	last := q.opened[len(q.opened)-1]
	q.opened = q.opened[:len(q.opened)-1]
	for _, b := range slices.Backward(last) {
		q.spaces[b.prefix] = b.space
	}
}

// splitName returns the namespace and the local part of a name that was resolved. One that could not be has no namespace.
func splitName(name string) (space, local string) {
	if rest, ok := strings.CutPrefix(name, "{"); ok {
		if space, local, ok = strings.Cut(rest, "}"); ok {
			return space, local
		}
	}
	return "", name
}
