package admin

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"time"
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
	var body bytes.Buffer
	if err := xml.NewEncoder(&body).Encode(document); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = w.Write(plainText(body.Bytes()))
}

// writeError answers with an error in the form of Service Bus.
func writeError(w http.ResponseWriter, status int, detail string) {
	writeXML(w, status, "application/xml; charset=utf-8", struct {
		XMLName xml.Name `xml:"Error"`
		Code    int      `xml:"Code"`
		Detail  string   `xml:"Detail"`
	}{Code: status, Detail: detail})
}

// stamp returns a time as it stands in the documents; the zero time is that of .NET.
func stamp(t time.Time) string {
	if t.IsZero() {
		return "0001-01-01T00:00:00"
	}
	return t.UTC().Format("2006-01-02T15:04:05.0000000Z")
}
