package access

import (
	"fmt"
	"slices"
	"strings"
)

// Role is how much a principal may do. Each has all that the ones before it have. The zero one may do nothing.
type Role string

// The roles.
const (
	Reader   Role = "reader"
	Operator Role = "operator"
	Admin    Role = "admin"
)

// roles are all roles, the least one first.
var roles = []Role{Reader, Operator, Admin}

// Roles returns all roles, the least one first.
func Roles() []Role { return slices.Clone(roles) }

// ParseRole reads a role's name.
func ParseRole(text string) (Role, error) {
	if role := Role(text); slices.Contains(roles, role) {
		return role, nil
	}
	return "", fmt.Errorf("%q is no role; there are reader, operator and admin", text)
}

// covers reports whether the role has all that another one has.
func (r Role) covers(other Role) bool {
	needed := slices.Index(roles, other)
	return needed >= 0 && slices.Index(roles, r) >= needed
}

// Right is what an operation needs of who asks for it. The zero one is given to nobody.
type Right string

// The rights. Those that end in Any are of operations that name no collection beforehand: they are let in when the
// principal has the role anywhere, and must then ask for each collection that they find, by [May] or [Check].
const (
	Open       Right = "open"       // anybody, also who is unknown: health
	Known      Right = "known"      // whoever has a role anywhere: what concerns no stored thing
	Read       Right = "read"       // reader on the collection
	Operate    Right = "operate"    // operator on the collection
	Administer Right = "administer" // admin on the collection; without one, on all
	ReadAny    Right = "readAny"    // reader on any collection; the answer has only what it may see
	OperateAny Right = "operateAny" // operator on any collection; the operation checks the one it finds
)

// requirement is what a right asks for.
type requirement struct {
	role     Role
	anywhere bool // on any collection
}

// requirements are those of all rights but [Open].
var requirements = map[Right]requirement{
	Known:      {Reader, true},
	Read:       {Reader, false},
	Operate:    {Operator, false},
	Administer: {Admin, false},
	ReadAny:    {Reader, true},
	OperateAny: {Operator, true},
}

// Valid reports whether a right is one of those above.
func (r Right) Valid() bool { return r == Open || requirements[r].role != "" }

// Grant is a role on collections.
type Grant struct {
	Role        Role     `json:"role"`
	Collections []string `json:"collections,omitempty"` // by name; none: all, and what belongs to none of them
}

// String returns role, or role@collection,collection.
func (g Grant) String() string {
	if len(g.Collections) == 0 {
		return string(g.Role)
	}
	return string(g.Role) + "@" + strings.Join(g.Collections, ",")
}

// on reports whether the grant is for a collection; "" is what belongs to none.
func (g Grant) on(collection string) bool {
	return len(g.Collections) == 0 || collection != "" && slices.Contains(g.Collections, collection)
}

// ParseGrant reads what [Grant.String] writes: operator, or operator@partners,billing.
func ParseGrant(text string) (Grant, error) {
	name, collections, scoped := strings.Cut(strings.TrimSpace(text), "@")
	role, err := ParseRole(name)
	if err != nil || !scoped {
		return Grant{Role: role}, err
	}
	g := Grant{Role: role}
	for one := range strings.SplitSeq(collections, ",") {
		one = strings.TrimSpace(one)
		if one == "" {
			return Grant{}, fmt.Errorf("%q names an empty collection; for all collections leave out the @", text)
		}
		g.Collections = append(g.Collections, one)
	}
	return g, nil
}

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
