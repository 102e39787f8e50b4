package egress

import (
	"errors"
	"net/url"
	"regexp"
	"strings"
)

// Endpoints says where names are that jobs give, such as those of Service Bus
// namespaces and storage accounts. The zero value knows none, so every name is
// where its service keeps it.
type Endpoints struct {
	// ByName holds the endpoints of single names, in any letter case.
	ByName map[string]string

	// Default is the endpoint of every other name. {name} in it stands for
	// the name. Default: none.
	Default string
}

// Find returns the endpoint of a name, "" when there is none.
func (e Endpoints) Find(name string) string {
	found := e.Default
	for n, other := range e.ByName {
		if strings.EqualFold(n, name) {
			found = other
		}
	}
	if exact, ok := e.ByName[name]; ok {
		found = exact
	}
	return strings.ReplaceAll(found, "{name}", name)
}

// quoted is what an error of [url.Parse] shows of the text.
var quoted = regexp.MustCompile(` ?"(?:[^"\\]|\\.)*"`)

// ParseURL parses a URL that a job gives. The error says what is wrong with it and
// shows nothing of it, as it may have a password in an odd place: that of
// http://admin:password/x@host/ is a port to [url.Parse].
func ParseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err == nil {
		return u, nil
	}
	if parse, ok := errors.AsType[*url.Error](err); ok {
		err = parse.Err
	}
	return nil, errors.New(quoted.ReplaceAllString(err.Error(), ""))
}
