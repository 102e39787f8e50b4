package scheduler

import (
	"cmp"
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
