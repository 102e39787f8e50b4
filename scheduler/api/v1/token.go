package v1

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler/auth"
)

// Token is an access token without its text.
type Token struct {
	ID      string       `json:"id"`
	Name    string       `json:"name,omitempty"`
	Grants  []auth.Grant `json:"grants,omitempty"`
	Created time.Time    `json:"created,omitzero"`
	Expires time.Time    `json:"expires,omitzero"`  // zero: never
	Revoked time.Time    `json:"revoked,omitzero"`  // zero: not revoked
	Problem string       `json:"problem,omitempty"` // why it is unreadable; only its id is then known
}

// NewToken is a new token with its text, which no later answer shows.
type NewToken struct {
	*Token

	Text string `json:"token"`
}

// TokenRequest is the body of a request for a token.
type TokenRequest struct {
	Name    string       `json:"name,omitempty"`
	Grants  []auth.Grant `json:"grants"`
	Expires time.Time    `json:"expires,omitzero"` // zero: never
}
