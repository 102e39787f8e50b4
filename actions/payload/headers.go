package payload

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Limits of an action's headers, for every protocol (Azure Scheduler Limits, Defaults, and Error Codes).
const (
	maxHeaders    = 50
	maxHeaderSize = 4096 // characters of all names and values together
)

// Headers receives the headers of an action.
type Headers interface {
	// CheckHeader returns a problem with a header, except in the characters of its name and value.
	CheckHeader(m document.Member) error

	// SetHeader adds a header and returns how many characters of its value count, or a problem with the value.
	SetHeader(name, value string) (int, error)

	// SetSecretHeader adds a header whose value is a secret.
	SetSecretHeader(SecretHeader)
}

// SecretHeader is a header whose value is written and never shown.
type SecretHeader struct {
	Name  string
	Value document.Secret
}

// Reveal returns the value for an attempt.
func (s SecretHeader) Reveal(at scheduler.Attempt) (string, error) {
	text, err := at.Reveal(s.Value)
	if err == nil && !IsHeaderValue(text) {
		err = fmt.Errorf("the secret for header %s has line breaks or control characters", s.Name)
	}
	return text, err
}

// ReadHeaders passes each header of the object headers in o that is not null to to, and checks the limits.
// Headers named like credentials are secrets, and any value can refer to a shared secret.
func ReadHeaders(o *document.Object, to Headers) {
	v, ok := o.Sample("headers", document.ObjectValue(document.Member{Name: "*", Value: document.ObjectValue()}))
	if !ok {
		return
	}
	ho := o.Inner("headers", v)
	count, size := 0, 0
	for _, m := range v.Members() {
		if m.Value.Kind() == document.KindNull {
			continue // absent
		}
		count++
		n, err := readHeader(ho, m, to)
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

// readHeader reads the header m of ho, and returns how many characters its value has, as far as that is known.
func readHeader(ho *document.Object, m document.Member, to Headers) (int, error) {
	if !isToken(m.Name) {
		return 0, errors.New("is not a header name: letters, digits and !#$%&'*+-.^_`|~ are allowed")
	}
	if err := to.CheckHeader(m); err != nil {
		return 0, err
	}
	value := m.Value.Text()
	switch {
	case document.IsCredential(m.Name) || m.Value.IsSecret() || m.Value.Kind() == document.KindObject:
		secret, ok := ho.Secret(m.Name)
		if !ok {
			return 0, nil // which was reported
		}
		to.SetSecretHeader(SecretHeader{m.Name, secret})
		if value, _ = secret.Literal(); IsHeaderValue(value) {
			return utf8.RuneCountInString(value), nil
		}
	case m.Value.Kind() != document.KindString:
		return 0, fmt.Errorf("must be a string, not %s", m.Value.Kind())
	case IsHeaderValue(value):
		return to.SetHeader(m.Name, value)
	}
	return 0, errors.New("must not contain line breaks or control characters")
}

// isToken reports whether s is a header name (RFC 9110, section 5.6.2; what clients of NATS take, see its ADR-4, is hardly
// more).
func isToken(s string) bool {
	const characters = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return s != "" && strings.Trim(s, characters) == ""
}

// IsHeaderValue reports whether s can be a header value (RFC 9110, section 5.5): no control character but the tab.
func IsHeaderValue(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f })
}
