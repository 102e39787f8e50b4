package access

import (
	"fmt"
	"slices"
	"strings"
)

// Rule gives a grant to those of whom somebody else says something: the claim of an issuer's token, or the name in a
// client certificate.
type Rule struct {
	Attribute string // what is said: groups, sub, cn
	Value     string // * for any
	Grant     Grant
}

// ParseRule reads attribute:value=grant, such as groups:platform=admin or groups:dev=operator@partners. The value may
// have an = in it, and the attribute may be an https URL, as issuers name claims of their own.
func ParseRule(text string) (Rule, error) {
	text = strings.TrimSpace(text)
	equals := strings.LastIndex(text, "=")
	if equals < 0 {
		return Rule{}, fmt.Errorf("%q names no role; write it as groups:platform=admin, or groups:dev=operator@partners", text)
	}
	g, err := ParseGrant(strings.TrimSpace(text[equals+1:]))
	if err != nil {
		return Rule{}, fmt.Errorf("%q: %w", text, err)
	}
	said, scheme := text[:equals], ""
	for _, s := range []string{"https://", "http://"} {
		if rest, ok := strings.CutPrefix(said, s); ok {
			said, scheme = rest, s
		}
	}
	attribute, value, ok := strings.Cut(said, ":")
	if !ok || attribute == "" || value == "" {
		return Rule{}, fmt.Errorf("%q does not say of whom; write it as groups:platform=admin", text)
	}
	return Rule{Attribute: scheme + attribute, Value: value, Grant: g}, nil
}

// Grants returns what rules give to somebody of whom values tells what is said, by attribute.
func Grants(rules []Rule, values func(attribute string) []string) []Grant {
	var all []Grant
	for _, r := range rules {
		said := values(r.Attribute)
		if r.Value == "*" && len(said) > 0 || slices.Contains(said, r.Value) {
			all = append(all, r.Grant)
		}
	}
	return all
}
