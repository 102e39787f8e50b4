package view

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler/access"
)

// Token is an access token as it is shown: all but its text.
type Token struct {
	ID      string         `json:"id"`
	Name    string         `json:"name,omitempty"`
	Grants  []access.Grant `json:"grants,omitempty"`
	Created time.Time      `json:"created,omitzero"`
	Expires time.Time      `json:"expires,omitzero"`  // zero: never
	Revoked time.Time      `json:"revoked,omitzero"`  // zero: it is not
	Problem string         `json:"problem,omitempty"` // why it cannot be read; then nothing else but the id is known
}

// NewToken is a token with its text, which is shown once, when it is made.
type NewToken struct {
	*Token

	Text string `json:"token"`
}

// TokenRequest is the body of a request for a token.
type TokenRequest struct {
	Name    string         `json:"name,omitempty"`
	Grants  []access.Grant `json:"grants"`
	Expires time.Time      `json:"expires,omitzero"` // zero: never
}
