package egress

import (
	"errors"
	"net/url"
	"regexp"
	"strings"
)

// Endpoints maps names in jobs, such as Service Bus namespaces and storage accounts, to endpoints. The zero
// value maps none: every name has the endpoint that its service defines.
type Endpoints struct {
	// ByName holds the endpoints of single names, in any letter case.
	ByName map[string]string

	// Default is the endpoint of all other names; {name} in it is replaced by the name. Default: none.
	Default string
}

// Find returns the endpoint of a name, or "".
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

// quoted matches the parts of the URL that an error of [url.Parse] quotes.
var quoted = regexp.MustCompile(` ?"(?:[^"\\]|\\.)*"`)

// ParseURL parses a URL of a job. Its error quotes no part of the URL, because a misplaced password could be in
// it: [url.Parse] reads http://admin:password/x@host/ as a host with a port.
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
