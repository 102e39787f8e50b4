package access

import (
	"context"
	"fmt"
)

// May reports whether a principal has a right on a collection; "" is everything that belongs to no collection, such as
// secrets and tokens, and needs a grant on all of them. Nobody known has [Open] alone.
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

// Sees returns what tells whether the principal in ctx may see a collection, for lists over all of them.
func Sees(ctx context.Context) func(collection string) bool {
	p := From(ctx)
	return func(collection string) bool { return May(p, Read, collection) }
}

// Denied is the error that a principal lacks a right.
type Denied struct {
	Principal  *Principal // nil: nobody known
	Right      Right
	Collection string // "": of none
}

// Needs returns the least role that has the right, or "".
func (d *Denied) Needs() Role { return requirements[d.Right].role }

// Error names the role that is missing.
func (d *Denied) Error() string {
	needed, ok := requirements[d.Right]
	if !ok {
		return "nobody may do this"
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

// Unknown is the error that it is not known who asks, where that matters: no token was given, or one that is not taken.
type Unknown struct {
	// Reason says what is wrong with what was given; "" when nothing was. It repeats nothing of a token.
	Reason string
}

// Error says what is missing.
func (u *Unknown) Error() string {
	if u.Reason == "" {
		return "this scheduler asks for a token, as Authorization: Bearer, and none was given"
	}
	return u.Reason
}
