package admin

import (
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/internal/plainxml"
)

// The namespaces of the documents.
const (
	atomSpace     = "http://www.w3.org/2005/Atom"
	busSpace      = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
	countSpace    = "http://schemas.microsoft.com/netservices/2011/06/servicebus"
	instanceSpace = "http://www.w3.org/2001/XMLSchema-instance"
	schemaSpace   = "http://www.w3.org/2001/XMLSchema"
)

const contentType = "application/atom+xml;type=entry;charset=utf-8"

// An entry is one entity. Its elements have no prefix, so that they inherit the namespace of the root.
type entry struct {
	XMLName   xml.Name `xml:"entry"`
	Space     string   `xml:"xmlns,attr,omitempty"`
	ID        string   `xml:"id"`
	Title     text     `xml:"title"`
	Published string   `xml:"published,omitempty"`
	Updated   string   `xml:"updated"`
	Author    *author  `xml:"author,omitempty"`
	Links     []link   `xml:"link"`
	Content   content  `xml:"content"`
}

type (
	text struct {
		Type  string `xml:"type,attr,omitempty"`
		Value string `xml:",chardata"`
	}
	author struct {
		Name string `xml:"name"`
	}
	link struct {
		Rel  string `xml:"rel,attr"`
		Href string `xml:"href,attr"`
	}
	// content has exactly one of its descriptions.
	content struct {
		Type         string           `xml:"type,attr"`
		Queue        *description     `xml:"QueueDescription"`
		Topic        *description     `xml:"TopicDescription"`
		Subscription *description     `xml:"SubscriptionDescription"`
		Rule         *ruleDescription `xml:"RuleDescription"`
		Namespace    *namespaceInfo   `xml:"NamespaceInfo"`
	}
)

// A feed is a list of entities.
type feed struct {
	XMLName xml.Name `xml:"feed"`
	Space   string   `xml:"xmlns,attr"`
	ID      string   `xml:"id"`
	Title   text     `xml:"title"`
	Updated string   `xml:"updated"`
	Links   []link   `xml:"link"`
	Entries []entry  `xml:"entry"`
}

// spaces are the namespace declarations of a description.
type spaces struct {
	Space    string `xml:"xmlns,attr,omitempty"`
	Instance string `xml:"xmlns:i,attr,omitempty"`
}

func newSpaces() spaces { return spaces{busSpace, instanceSpace} }

// countDetails are the messages of an entity. The prefix is what clients look for; its declaration must be the only attribute.
type countDetails struct {
	Space              string `xml:"xmlns:d2p1,attr"`
	Active             int64  `xml:"d2p1:ActiveMessageCount"`
	DeadLetter         int64  `xml:"d2p1:DeadLetterMessageCount"`
	Scheduled          int64  `xml:"d2p1:ScheduledMessageCount"`
	TransferDeadLetter int64  `xml:"d2p1:TransferDeadLetterMessageCount"`
	Transfer           int64  `xml:"d2p1:TransferMessageCount"`
}

// decodeEntry reads the description in the body of a request.
func decodeEntry(r io.Reader) (content, error) {
	var e entry
	if err := newDecoder(r).Decode(&e); err != nil {
		return content{}, fmt.Errorf("%w: %w", errBadRequest, err)
	}
	return e.Content, nil
}

// newEntry returns the entry of an entity at a path.
func (q *query) newEntry(path, title string, created, updated time.Time, c content) entry {
	c.Type = "application/xml"
	return entry{
		ID: q.url(path), Title: text{"text", title}, Published: stamp(created), Updated: stamp(updated),
		Author: &author{q.host()}, Links: []link{{"self", q.url(path)}}, Content: c,
	}
}

// writeEntry answers with one entity.
func writeEntry(w http.ResponseWriter, status int, e entry) {
	e.Space = atomSpace
	writeXML(w, status, contentType, e)
}

func writeXML(w http.ResponseWriter, status int, contentType string, document any) {
	body, err := plainxml.Marshal(document)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// writeError answers with an error in the form of Service Bus.
func writeError(w http.ResponseWriter, status int, detail string) {
	writeXML(w, status, "application/xml; charset=utf-8", struct {
		XMLName xml.Name `xml:"Error"`
		Code    int      `xml:"Code"`
		Detail  string   `xml:"Detail"`
	}{Code: status, Detail: detail})
}

// stamp formats a time for the documents; the zero time is .NET's.
func stamp(t time.Time) string {
	if t.IsZero() {
		return "0001-01-01T00:00:00"
	}
	return t.UTC().Format("2006-01-02T15:04:05.0000000Z")
}

// A qualifier reads the tokens of a document and resolves the values of XML Schema attributes "type": "p:int" becomes
// "{namespace}int". Prefixes are resolved by the declarations of the document.
type qualifier struct {
	decoder *xml.Decoder
	spaces  map[string]string // the namespaces of prefixes; "" is the default
	opened  [][]binding       // bindings replaced by each open element
}

// A binding is a prefix and its namespace.
type binding struct{ prefix, space string }

// newDecoder returns a decoder with such names.
func newDecoder(r io.Reader) *xml.Decoder {
	return xml.NewTokenDecoder(&qualifier{decoder: xml.NewDecoder(r), spaces: map[string]string{}})
}

// Token returns the next token with its prefixes unchanged.
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

// splitName returns the namespace and the local part of a resolved name. An unresolved name has no namespace.
func splitName(name string) (space, local string) {
	if rest, ok := strings.CutPrefix(name, "{"); ok {
		if space, local, ok = strings.Cut(rest, "}"); ok {
			return space, local
		}
	}
	return "", name
}
