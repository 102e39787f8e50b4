package auth

import (
	"context"
	"slices"
	"strings"
)

// Authentication methods.
const (
	ViaLoopback    = "loopback"    // a local client, without authentication
	ViaOpen        = "open"        // any client: the scheduler was configured as open
	ViaToken       = "token"       // an access token of this scheduler
	ViaOIDC        = "oidc"        // a token of an OIDC issuer
	ViaCertificate = "certificate" // a client certificate
	ViaNATS        = "nats"        // a user of the NATS server, whose permissions decide
	ViaFiles       = "files"       // the job files that the scheduler's process was started with
	ViaScheduler   = "scheduler"   // the scheduler itself
)

// Principal is an authenticated client.
type Principal struct {
	Name    string  `json:"name,omitempty"`    // of the token, the certificate or the issuer's user, for people; "": anonymous
	ID      string  `json:"id,omitempty"`      // token ID, the sub of the issuer, or the SHA-256 of the certificate
	Via     string  `json:"via"`               // authentication method: one of the Via constants
	Address string  `json:"address,omitempty"` // client address, without its port
	Grants  []Grant `json:"grants,omitempty"`
}

// Anonymous returns the principal of all callers of a scheduler without authentication, with every right.
func Anonymous(via, address string) *Principal {
	return &Principal{Via: via, Address: address, Grants: []Grant{{Role: Admin}}}
}

// String describes the principal to people: "token ci".
func (p *Principal) String() string {
	switch {
	case p == nil:
		return "nobody known"
	case p.Name == "":
		return p.Via
	}
	return p.Via + " " + p.Name
}

// DescribeUnnamed describes a principal without a name by its authentication method, "" for an unknown method.
func DescribeUnnamed(via string) string {
	switch via {
	case ViaLoopback:
		return "a client on the scheduler's machine"
	case ViaOpen:
		return "a client of the open API"
	case ViaNATS:
		return "a user of NATS"
	case ViaFiles:
		return "the user who started the scheduler with job files"
	case ViaScheduler:
		return "the scheduler itself"
	}
	return ""
}

// has describes the grants to people.
func (p *Principal) has() string {
	if p == nil || len(p.Grants) == 0 {
		return "no role"
	}
	texts := make([]string, len(p.Grants))
	for i, g := range p.Grants {
		texts[i] = g.String()
	}
	return strings.Join(texts, " and ")
}

// principalKey is the context key of the principal.
type principalKey struct{}

// With returns a context with the principal of the request.
func With(ctx context.Context, p *Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// Within returns a context that restricts the principal's rights to one collection; "" changes nothing.
func Within(ctx context.Context, collection string) context.Context {
	p := From(ctx)
	if p == nil || collection == "" {
		return ctx
	}
	limited := *p
	limited.Grants = nil
	for _, g := range p.Grants {
		if g.on(collection) {
			limited.Grants = append(limited.Grants, Grant{g.Role, []string{collection}})
		}
	}
	return With(ctx, &limited)
}

// From returns the principal in ctx, or nil.
func From(ctx context.Context) *Principal {
	p, _ := ctx.Value(principalKey{}).(*Principal)
	return p
}

// SameGrants reports whether two principals have the same rights.
func SameGrants(a, b *Principal) bool {
	return slices.EqualFunc(a.Grants, b.Grants, func(a, b Grant) bool {
		return a.Role == b.Role && slices.Equal(a.Collections, b.Collections)
	})
}
