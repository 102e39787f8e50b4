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
func (r *request) readHeaders(o *document.Object) { payload.ReadHeaders(o, r) }

// CheckHeader implements [payload.Headers].
func (r *request) CheckHeader(m document.Member) error {
	name := textproto.CanonicalMIMEHeaderKey(m.Name)
	switch {
	case refusedHeaders[name]:
		return errors.New("is set by the scheduler and cannot be given")
	case r.gives(name):
		return errors.New("is given twice, in different letter case")
	case name == headerHost && m.Value.Kind() == document.KindObject && !m.Value.IsSecret():
		return fmt.Errorf("must be a string, not %s", m.Value.Kind())
	}
	return nil
}

// SetHeader implements [payload.Headers].
func (r *request) SetHeader(name, value string) (int, error) {
	name = textproto.CanonicalMIMEHeaderKey(name)
	if name == headerHost {
		return 0, r.setHost(value)
	}
	if r.header == nil {
		r.header = http.Header{}
	}
	r.header[name] = []string{value}
	return utf8.RuneCountInString(value), nil
}

// SetSecretHeader implements [payload.Headers].
func (r *request) SetSecretHeader(h payload.SecretHeader) {
	h.Name = textproto.CanonicalMIMEHeaderKey(h.Name)
	r.secrets = append(r.secrets, h)
}

// gives reports whether the job gives the header of that canonical name itself.
func (r *request) gives(name string) bool {
	_, plain := r.header[name]
	return plain || name == headerHost && r.host != "" ||
		slices.ContainsFunc(r.secrets, func(s payload.SecretHeader) bool { return s.Name == name })
}

func (r *request) setHost(value string) error {
	u, err := url.Parse("http://" + value)
	if err != nil || u.Host != value || u.Hostname() == "" {
		return errors.New("is not a host name with an optional port") // it may be a URL with a password
	}
	r.host = value
	return nil
}

// The values of the header Content-Type that all requests share.
var (
	typeJSON = []string{"application/json"}
	typeText = []string{"text/plain; charset=utf-8"}
)

// setContentType says what kind of body it is.
func setContentType(h http.Header, body string) {
	switch {
	case body == "":
		delete(h, headerContentType)
	case mayBeJSON(body) && json.Valid([]byte(body)):
		h[headerContentType] = typeJSON
	default:
		h[headerContentType] = typeText
	}
}

// mayBeJSON looks at the first character alone: to find out that a text is none costs package json an error.
func mayBeJSON(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	return text != "" && strings.IndexByte(`{["-0123456789tfn`, text[0]) >= 0
}
