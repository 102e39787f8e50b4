package scheduler

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxName is the longest a job or collection name may be, in bytes.
const MaxName = 100

// DefaultCollection exists from the first start and takes the jobs that name
// no collection.
const DefaultCollection = "default"

// Key names a job.
type Key struct {
	// Collection is the name of its collection; outside of the default scope, with
	// the mark of the [Scope] after it.
	Collection string
	Job        string
}

// String returns collection/job, the form used in ids, messages and output.
func (k Key) String() string { return k.Collection + "/" + k.Job }

// KeyIn returns the key that people mean by a collection and a job, each "" for none: collection/job stands for both, and a job
// alone is one of the default collection.
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

// Hash spreads jobs evenly: FNV-1a of collection.job.
func (k Key) Hash() uint32 {
	h := uint32(2166136261)
	for _, s := range [...]string{k.Collection, ".", k.Job} {
		for i := range len(s) {
			h = (h ^ uint32(s[i])) * 16777619
		}
	}
	// FNV leaves the high bits of short, similar names alike: mix them.
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

// ValidateName checks a job or collection name: a letter, then letters,
// digits, hyphens and underscores, at most 100 in all (the rule of Azure
// Scheduler, and one NATS subject token). field names the name in the error.
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
