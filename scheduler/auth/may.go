package auth

import (
	"context"
	"fmt"
)

// May reports whether a principal has a right on a collection. The collection "" represents resources outside
// collections, such as secrets and tokens, and requires a grant on all collections. A nil principal has only [Open].
func May(p *Principal, right Right, collection string) bool {
	if right == Open {
		return true
	}
	needed, ok := requirements[right]
	if !ok || p == nil {
		return false
	}
	for _, g := range p.Grants {
		if g.Role.covers(needed.role) && (needed.anywhere || g.on(collection)) {
			return true
		}
	}
	return false
}

// Check returns a [*Denied] unless the principal in ctx has the right.
func Check(ctx context.Context, right Right, collection string) error {
	p := From(ctx)
	if May(p, right, collection) {
		return nil
	}
	return &Denied{Principal: p, Right: right, Collection: collection}
}

// Sees returns a predicate for lists: it reports whether the principal in ctx may view a collection.
func Sees(ctx context.Context) func(collection string) bool {
	p := From(ctx)
	return func(collection string) bool { return May(p, Read, collection) }
}

// Denied is the error that a principal lacks a right.
type Denied struct {
	Principal  *Principal // nil: unauthenticated
	Right      Right
	Collection string // "": of none
}

// Needs returns the least privileged role with the right, or "".
func (d *Denied) Needs() Role { return requirements[d.Right].role }

// Error names the missing role.
func (d *Denied) Error() string {
	needed, ok := requirements[d.Right]
	if !ok {
		return "no role permits this"
	}
	where := "on all collections"
	switch {
	case needed.anywhere:
		where = "on any collection"
	case d.Collection != "":
		where = "on collection " + d.Collection
	}
	return fmt.Sprintf("this needs the role %s %s; %s has %s", needed.role, where, d.Principal, d.Principal.has())
}

// Unknown is the error of an unauthenticated request for an operation that requires a principal: it has no token, or an
// invalid one.
type Unknown struct {
	// Reason states why the credential was rejected; "" if the request had none. It quotes no part of a token.
	Reason string
}

// Error implements error.
func (u *Unknown) Error() string {
	if u.Reason == "" {
		return "this scheduler asks for a token, as Authorization: Bearer, and none was given"
	}
	return u.Reason
}
