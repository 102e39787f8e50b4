package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/actions/payload"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// refusedHeaders frame the message or belong to the connection (RFC 9110,
// section 7.6.1). net/http sets them itself.
var refusedHeaders = map[string]bool{
	"Connection": true, "Content-Length": true, "Expect": true,
	"Keep-Alive": true, "Proxy-Connection": true, "Te": true,
	"Trailer": true, "Transfer-Encoding": true, "Upgrade": true,
}

// readHeaders reads request.headers, an object of strings.
func (r *request) readHeaders(o *document.Object) {
	if o.Has("headers") {
		r.header = http.Header{}
		payload.ReadHeaders(o, r.addHeader)
	}
}

// addHeader adds the header m of ho and returns how many characters its value
// has.
func (r *request) addHeader(ho *document.Object, m document.Member) (int, error) {
	name, value := textproto.CanonicalMIMEHeaderKey(m.Name), m.Value.Text()
	switch {
	case !isToken(m.Name):
		return 0, errors.New("is not a header name: letters, digits and !#$%&'*+-.^_`|~ are allowed")
	case refusedHeaders[name]:
		return 0, errors.New("is set by the scheduler and cannot be given")
	case r.gives(name):
		return 0, errors.New("is given twice, in different letter case")
	case document.IsCredential(m.Name) || m.Value.IsSecret() || m.Value.Kind() == document.KindObject && name != headerHost:
		return r.addSecret(ho, m.Name, name)
	case m.Value.Kind() != document.KindString:
		return 0, fmt.Errorf("must be a string, not %s", m.Value.Kind())
	case !isFieldValue(value):
		return 0, errNoFieldValue
	case name == headerHost:
		return 0, r.setHost(value)
	}
	r.header[name] = []string{value}
	return utf8.RuneCountInString(value), nil
}

var errNoFieldValue = errors.New("must not contain line breaks or control characters")

// gives reports whether the job gives the header of that canonical name itself.
func (r *request) gives(name string) bool {
	_, plain := r.header[name]
	return plain || name == headerHost && r.host != "" ||
		slices.ContainsFunc(r.secrets, func(s secretHeader) bool { return s.name == name })
}

func (r *request) setHost(value string) error {
	u, err := url.Parse("http://" + value)
	if err != nil || u.Host != value || u.Hostname() == "" {
		return fmt.Errorf("%q is not a host name with an optional port", value)
	}
	r.host = value
	return nil
}

// setContentType says what kind of body it is.
func setContentType(h http.Header, body string) {
	switch {
	case body == "":
		delete(h, headerContentType)
	case json.Valid([]byte(body)):
		h[headerContentType] = []string{"application/json"}
	default:
		h[headerContentType] = []string{"text/plain; charset=utf-8"}
	}
}

// isToken reports whether s is a header name (RFC 9110, section 5.6.2).
func isToken(s string) bool {
	for _, c := range []byte(s) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}

// isFieldValue reports whether s can be a header value (RFC 9110, section
// 5.5): no control character but the tab.
func isFieldValue(s string) bool {
	for _, c := range []byte(s) {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}
