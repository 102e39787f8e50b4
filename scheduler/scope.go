package scheduler

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Scope is a subscription and a resource group of Azure's resource manager. The
// name of a collection tells it from others of its scope: there may be one of
// that name in each. Both names are compared without letter case, as the resource
// manager does.
//
// The zero Scope is the default one, of [DefaultSubscription] and [DefaultGroup]:
// that of the collections that are named without any.
type Scope struct {
	Subscription string
	Group        string
}

// The names of the default scope in the paths of the resource manager.
const (
	DefaultSubscription = "00000000-0000-0000-0000-000000000000"
	DefaultGroup        = "default"
)

// maxScopeName is the longest that the name of a subscription or a resource group
// may be, in characters ("Naming rules and restrictions for Azure resources").
const maxScopeName = 90

// NewScope returns the scope of names as they stand in a path.
func NewScope(subscription, group string) (Scope, error) {
	if strings.EqualFold(subscription, DefaultSubscription) && strings.EqualFold(group, DefaultGroup) {
		return Scope{}, nil
	}
	if err := checkScopeName("subscription", subscription); err != nil {
		return Scope{}, err
	}
	return Scope{subscription, group}, checkScopeName("resourceGroup", group)
}

// checkScopeName refuses what cannot be part of a path, or is too long.
func checkScopeName(field, name string) error {
	bad := func(r rune) bool {
		return unicode.IsControl(r) || unicode.IsSpace(r) || r == '/' || r == utf8.RuneError
	}
	switch n := utf8.RuneCountInString(name); {
	case name == "":
		return Invalid(field, "must not be empty")
	case n > maxScopeName:
		return Invalid(field, fmt.Sprintf("is %d characters long, at most %d are allowed", n, maxScopeName))
	case strings.ContainsFunc(name, bad):
		return Invalid(field, fmt.Sprintf("%q has a character that cannot be in it", name))
	}
	return nil
}

// IsDefault reports whether the scope is the default one.
func (s Scope) IsDefault() bool { return s == Scope{} }

// Is reports whether both are the same scope.
func (s Scope) Is(other Scope) bool {
	return s.Mark() == other.Mark()
}

// Names are the scope's as they stand in paths.
func (s Scope) Names() (subscription, group string) {
	if s.IsDefault() {
		return DefaultSubscription, DefaultGroup
	}
	return s.Subscription, s.Group
}

// Provider is the path of Microsoft.Scheduler in the scope, without a slash at its end.
func (s Scope) Provider() string {
	subscription, group := s.Names()
	return "/subscriptions/" + subscription + "/resourceGroups/" + group + providerPath
}

// scopeMark stands between the name of a collection and its scope.
const scopeMark = "="

// Mark is what the names of the scope's collections end with in a [Key]; "" for
// the default scope. It is a hash of both names, of 80 bits: no two scopes of a
// deployment have the same.
func (s Scope) Mark() string {
	if s.IsDefault() {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.ToLower(s.Subscription) + "/" + strings.ToLower(s.Group)))
	return scopeMark + markEncoding.EncodeToString(sum[:10])
}

// markAlphabet are the characters of a mark: they stand in NATS subjects and keys.
const markAlphabet = "abcdefghijklmnopqrstuvwxyz234567"

// markLength is how many there are, after scopeMark.
const markLength = 16

var markEncoding = base32.NewEncoding(markAlphabet).WithPadding(base32.NoPadding)

// Collection is what a collection of the scope is called in a [Key]: its name, and
// the scope's mark.
func (s Scope) Collection(name string) string { return name + s.Mark() }

// PlainName is the name of a collection within its scope, which a [Key] calls name.
func PlainName(name string) string {
	plain, _, _ := strings.Cut(name, scopeMark)
	return plain
}

// Plain returns the key with the collection's name within its scope.
func (k Key) Plain() Key { return Key{PlainName(k.Collection), k.Job} }

// ValidateCollection checks what a collection is called in a [Key]: a name
// ([ValidateName]), and after it the mark of a scope, if that is not the default
// one.
func ValidateCollection(name string) error {
	plain, mark, marked := strings.Cut(name, scopeMark)
	outside := func(r rune) bool { return !strings.ContainsRune(markAlphabet, r) }
	if marked && (len(mark) != markLength || strings.ContainsFunc(mark, outside)) {
		plain = name // '=' is wrong in it
	}
	return ValidateName("collection", plain)
}

// The parts of ids that stand before and after those of a scope.
const (
	providerPath    = "/providers/Microsoft.Scheduler"
	collectionsPath = "/jobCollections/"
)

func hasPrefixFold(text, prefix string) bool {
	return len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix)
}

// ReadID reads the id of a collection, or of what is below one: the scope, and the
// rest of the path, which begins with /jobCollections/. The short form has the
// default scope.
func ReadID(id string) (s Scope, rest string, ok bool) {
	at := 0
	for at < len(id) && !hasPrefixFold(id[at:], collectionsPath) {
		at++
	}
	if at == len(id) {
		return s, "", false
	}
	before, rest := id[:at], id[at:]
	if before == "" {
		return s, rest, true
	}
	if n := len(before) - len(providerPath); n < 0 || !strings.EqualFold(before[n:], providerPath) {
		return s, "", false
	}
	names := strings.Split(before[:len(before)-len(providerPath)], "/")
	if len(names) != 5 || names[0] != "" ||
		!strings.EqualFold(names[1], "subscriptions") || !strings.EqualFold(names[3], "resourceGroups") {
		return s, "", false
	}
	s, err := NewScope(names[2], names[4])
	return s, rest, err == nil
}

// isIDOf reports whether an id is that of what is at a path below /jobCollections,
// whose first part is called collection in a [Key]. Where that is in the default
// scope, which short paths do not name, an id of any scope is.
func isIDOf(id, collection, below string) bool {
	s, rest, ok := ReadID(id)
	if !ok {
		return false
	}
	plain := PlainName(collection)
	if plain == collection {
		return strings.EqualFold(rest, collectionsPath+plain+below)
	}
	return strings.EqualFold(rest, collectionsPath+collection+below) && s.IsDefault() ||
		strings.EqualFold(rest, collectionsPath+plain+below) && s.Collection(plain) == collection
}
