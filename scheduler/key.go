package scheduler

import (
	"cmp"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxName is the maximum length of a job or collection name in bytes.
const MaxName = 100

// DefaultCollection exists from the first start and holds jobs without a collection.
const DefaultCollection = "default"

// Key names a job.
type Key struct {
	// Collection is the name of the collection. Outside the default scope, the mark of the [Scope] follows it.
	Collection string
	Job        string
}

// MarshalText returns <collection>.<job>, the form in subjects and keys of buckets.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.Collection + "." + k.Job), nil }

// UnmarshalText parses <collection>.<job>.
func (k *Key) UnmarshalText(text []byte) error {
	k.Collection, k.Job, _ = strings.Cut(string(text), ".")
	return k.Validate()
}

// String returns collection/job, the form in ids, messages and output.
func (k Key) String() string { return k.Collection + "/" + k.Job }

// KeyIn parses a collection and a job as users type them, each "" for none: the job may be collection/job, and a job
// alone is in the default collection.
func KeyIn(collection, job string) Key {
	of, name, both := strings.Cut(job, "/")
	switch {
	case job == "":
		return Key{Collection: collection}
	case both:
		return Key{Collection: of, Job: name}
	}
	return Key{Collection: cmp.Or(collection, DefaultCollection), Job: job}
}

// Hash distributes jobs evenly: FNV-1a of collection.job, mixed.
func (k Key) Hash() uint32 {
	h := uint32(2166136261)
	for _, s := range [...]string{k.Collection, ".", k.Job} {
		for i := range len(s) {
			h = (h ^ uint32(s[i])) * 16777619
		}
	}
	// FNV leaves the high bits of short, similar names alike.
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	return h
}

// Validate checks both names.
func (k Key) Validate() error {
	if err := ValidateCollection(k.Collection); err != nil {
		return err
	}
	return ValidateName("job", k.Job)
}

// ValidateName checks a job or collection name: a letter, then letters, digits, hyphens and underscores, at most 100
// characters (the rule of Azure Scheduler; the name is one NATS subject token). The error has the path field.
func ValidateName(field, name string) error {
	if name == "" {
		return Invalid(field, "must not be empty")
	}
	if n := utf8.RuneCountInString(name); n > MaxName {
		return Invalid(field, fmt.Sprintf("is %d characters long, at most %d are allowed", n, MaxName))
	}
	for i, c := range name {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if letter || i > 0 && (c >= '0' && c <= '9' || c == '-' || c == '_') {
			continue
		}
		which := ""
		if unicode.IsLetter(c) {
			which = " a to z"
		}
		if i == 0 {
			return Invalid(field, fmt.Sprintf("%q must begin with a letter%s", name, which))
		}
		return Invalid(field, fmt.Sprintf("%q must not contain %q: letters%s, digits, - and _ are allowed", name, c, which))
	}
	return nil
}

// Scope is a subscription and a resource group of Azure Resource Manager. Collection names are unique within a scope.
// As in Resource Manager, both names are case-insensitive.
//
// The zero Scope is the default scope, of [DefaultSubscription] and [DefaultGroup]: it holds collections that are named
// without a scope.
type Scope struct {
	Subscription string
	Group        string
}

// The names of the default scope in Resource Manager paths.
const (
	DefaultSubscription = "00000000-0000-0000-0000-000000000000"
	DefaultGroup        = "default"
)

// maxScopeName is the maximum length of a subscription or resource group name in characters ("Naming rules and
// restrictions for Azure resources").
const maxScopeName = 90

// NewScope returns the scope for the names in a path.
func NewScope(subscription, group string) (Scope, error) {
	if strings.EqualFold(subscription, DefaultSubscription) && strings.EqualFold(group, DefaultGroup) {
		return Scope{}, nil
	}
	if err := checkScopeName("subscription", subscription); err != nil {
		return Scope{}, err
	}
	return Scope{subscription, group}, checkScopeName("resourceGroup", group)
}

// checkScopeName rejects a name that is too long or cannot be part of a path.
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

// IsDefault reports whether s is the default scope.
func (s Scope) IsDefault() bool { return s == Scope{} }

// Is reports whether both are the same scope.
func (s Scope) Is(other Scope) bool {
	return s.Mark() == other.Mark()
}

// Names returns the scope's names as they appear in paths.
func (s Scope) Names() (subscription, group string) {
	if s.IsDefault() {
		return DefaultSubscription, DefaultGroup
	}
	return s.Subscription, s.Group
}

// Provider returns the path of Microsoft.Scheduler in the scope, without a trailing slash.
func (s Scope) Provider() string {
	subscription, group := s.Names()
	return "/subscriptions/" + subscription + "/resourceGroups/" + group + providerPath
}

// scopeMark separates the name of a collection from its scope.
const scopeMark = "="

// Mark returns the suffix of the scope's collection names in a [Key]; "" for the default scope. It is an 80-bit hash of
// both names, which is unique in practice.
func (s Scope) Mark() string {
	if s.IsDefault() {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.ToLower(s.Subscription) + "/" + strings.ToLower(s.Group)))
	return scopeMark + markEncoding.EncodeToString(sum[:10])
}

// markAlphabet holds the characters of a mark, all valid in NATS subjects and keys.
const markAlphabet = "abcdefghijklmnopqrstuvwxyz234567"

// markLength is the number of characters after scopeMark.
const markLength = 16

var markEncoding = base32.NewEncoding(markAlphabet).WithPadding(base32.NoPadding)

// Collection returns the name of a collection of the scope in a [Key]: its plain name and the scope's mark.
func (s Scope) Collection(name string) string { return name + s.Mark() }

// PlainName returns the name within its scope of a collection name in a [Key].
func PlainName(name string) string {
	plain, _, _ := strings.Cut(name, scopeMark)
	return plain
}

// Plain returns the key with the collection's plain name.
func (k Key) Plain() Key { return Key{PlainName(k.Collection), k.Job} }

// ValidateCollection checks a collection name in a [Key]: a name ([ValidateName]), followed by the mark of its scope
// outside the default scope.
func ValidateCollection(name string) error {
	plain, mark, marked := strings.Cut(name, scopeMark)
	outside := func(r rune) bool { return !strings.ContainsRune(markAlphabet, r) }
	if marked && (len(mark) != markLength || strings.ContainsFunc(mark, outside)) {
		plain = name // the '=' is invalid
	}
	return ValidateName("collection", plain)
}

// The parts of ids before and after the names of a scope.
const (
	providerPath    = "/providers/Microsoft.Scheduler"
	collectionsPath = "/jobCollections/"
)

func hasPrefixFold(text, prefix string) bool {
	return len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix)
}

// ReadID parses the id of a collection, or of a resource in one: the scope, and the rest of the path, which begins with
// /jobCollections/. The short form has the default scope.
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

// isIDOf reports whether id identifies the resource at the path below in a collection, given by its name in a [Key]. In
// the default scope, which short paths omit, an id of any scope matches.
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
