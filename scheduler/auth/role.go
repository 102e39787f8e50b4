package auth

import (
	"fmt"
	"slices"
	"strings"
)

// Role is a set of rights. Each role includes the previous ones. The zero Role has no rights.
type Role string

// The roles.
const (
	Reader   Role = "reader"
	Operator Role = "operator"
	Admin    Role = "admin"
)

// roles lists all roles, least privileged first.
var roles = []Role{Reader, Operator, Admin}

// Roles returns all roles, least privileged first.
func Roles() []Role { return slices.Clone(roles) }

// ParseRole reads a role's name.
func ParseRole(text string) (Role, error) {
	if role := Role(text); slices.Contains(roles, role) {
		return role, nil
	}
	return "", fmt.Errorf("%q is not a role; use reader, operator or admin", text)
}

// covers reports whether the role includes another.
func (r Role) covers(other Role) bool {
	needed := slices.Index(roles, other)
	return needed >= 0 && slices.Index(roles, r) >= needed
}

// Right is the permission that an operation requires. No role grants the zero Right.
type Right string

// The rights. Rights that end in Any are for operations that do not name their collection up front: they require the
// role on any collection, and the operation must then check each collection with [May] or [Check].
const (
	Open          Right = "open"          // no authentication required: health
	Known         Right = "known"         // a role on any collection: operations without stored data
	Read          Right = "read"          // reader on the collection
	Operate       Right = "operate"       // operator on the collection
	Administer    Right = "administer"    // admin on the collection; without one, on all
	ReadAny       Right = "readAny"       // reader on any collection; the answer is limited to visible collections
	OperateAny    Right = "operateAny"    // operator on any collection; the operation checks the collections that it finds
	AdministerAny Right = "administerAny" // admin on any collection; the operation checks its collection
)

// requirement is the role that a right requires.
type requirement struct {
	role     Role
	anywhere bool // on any collection
}

// requirements lists all rights except [Open].
var requirements = map[Right]requirement{
	Known:         {Reader, true},
	Read:          {Reader, false},
	Operate:       {Operator, false},
	Administer:    {Admin, false},
	ReadAny:       {Reader, true},
	OperateAny:    {Operator, true},
	AdministerAny: {Admin, true},
}

// Valid reports whether a right is one of those above.
func (r Right) Valid() bool { return r == Open || requirements[r].role != "" }

// Grant is a role on some or all collections.
type Grant struct {
	Role        Role     `json:"role"`
	Collections []string `json:"collections,omitempty"` // names; empty: all collections, and resources outside collections
}

// String returns role, or role@collection,collection.
func (g Grant) String() string {
	if len(g.Collections) == 0 {
		return string(g.Role)
	}
	return string(g.Role) + "@" + strings.Join(g.Collections, ",")
}

// on reports whether the grant applies to a collection; "" represents resources outside collections.
func (g Grant) on(collection string) bool {
	return len(g.Collections) == 0 || collection != "" && slices.Contains(g.Collections, collection)
}

// ParseGrant parses the output of [Grant.String]: operator, or operator@partners,billing.
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

// Rule maps an attribute that another system asserts, such as a claim of an issuer's token or the name in a client
// certificate, to a grant.
type Rule struct {
	Attribute string // groups, sub, cn
	Value     string // * for any
	Grant     Grant
}

// ParseRule parses attribute:value=grant, such as groups:platform=admin or groups:dev=operator@partners. The value may
// contain =, and the attribute may be an https URL, which issuers use for custom claims.
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
		return Rule{}, fmt.Errorf("%q does not name its group; write it as groups:platform=admin", text)
	}
	return Rule{Attribute: scheme + attribute, Value: value, Grant: g}, nil
}

// Grants returns the grants that the rules assign to a client. values returns the values of an attribute of the client.
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
