package auth

import (
	"fmt"
	"strings"
)

// Rights are what a key may be used for.
type Rights uint8

// The rights. Manage has the others in it.
const (
	Send Rights = 1 << iota
	Listen
	Manage

	All = Send | Listen | Manage
)

// rightNames are the rights by their names in lower case.
var rightNames = map[string]Rights{"send": Send, "listen": Listen, "manage": All}

// ParseRights reads names of rights, in any case. None are all.
func ParseRights(names []string) (Rights, error) {
	if len(names) == 0 {
		return All, nil
	}
	var rights Rights
	for _, name := range names {
		right, ok := rightNames[strings.ToLower(strings.TrimSpace(name))]
		if !ok {
			return 0, fmt.Errorf("right %q is not Send, Listen or Manage", name)
		}
		rights |= right
	}
	return rights, nil
}

// Has reports whether the rights have one of some others in them.
func (r Rights) Has(others Rights) bool { return r&others != 0 }

// String names the rights as the service's messages do.
func (r Rights) String() string {
	var names []string
	for _, right := range []struct {
		Rights

		name string
	}{{Manage, "Manage"}, {Send, "Send"}, {Listen, "Listen"}} {
		if r.Has(right.Rights) {
			names = append(names, right.name)
		}
	}
	return strings.Join(names, ",")
}

// A Key is a shared access key of an entity.
type Key struct {
	Name   string
	Texts  []string // the primary one and the secondary
	Entity string   // its path
	Rights Rights
}

// A Grant is what a token is good for.
type Grant struct {
	// Rights are those on what the token was shown for, and on what is below.
	Rights Rights
	// Entity is the path to which the rights are confined; empty for all.
	Entity string
}
