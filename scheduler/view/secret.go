package view

import "time"

// SharedSecret is a named secret that jobs refer to, as it is shown: all but
// its text. One that cannot be read has a problem and no more.
type SharedSecret struct {
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Created     time.Time `json:"created,omitzero"`
	Updated     time.Time `json:"updated,omitzero"`
	Key         string    `json:"key,omitempty"`     // id of the key that it is sealed with
	Problem     string    `json:"problem,omitempty"` // why it cannot be read; then nothing else but the name is known
}

// Rotation is what a rotation of keys did.
type Rotation struct {
	Key      string            `json:"key"`      // id of the key that everything is sealed with now
	Jobs     int               `json:"jobs"`     // sealed again
	Secrets  int               `json:"secrets"`  // shared ones, sealed again
	Skipped  int               `json:"skipped"`  // jobs with secrets, and shared secrets, that had this key already
	Failures int               `json:"failures"` // what could not be sealed again
	Failed   []RotationFailure `json:"failed"`   // of these, the first hundred by name
}

// RotationFailure is something that could not be sealed again.
type RotationFailure struct {
	Job    string `json:"job,omitempty"`    // collection/job
	Secret string `json:"secret,omitempty"` // name of a shared secret
	Reason string `json:"reason"`
}

// Undecryptable tells of secrets in the store that a process cannot open: it
// has not the key that they were sealed with, or another one of that id.
type Undecryptable struct {
	Key     string `json:"key"`     // id of the key that seals them; "" when that cannot be told
	Reason  string `json:"reason"`  // why the first one cannot be opened
	Secrets int    `json:"secrets"` // shared ones
	Jobs    int    `json:"jobs"`    // jobs with such secrets, among those that were looked at
	Example string `json:"example"` // "secret NAME" or "job COLLECTION/NAME"
}
