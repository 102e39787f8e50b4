package v1

import "time"

// SharedSecret is a named secret that jobs refer to, without its value. An unreadable one has a name and a problem
// only.
type SharedSecret struct {
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Created     time.Time `json:"created,omitzero"`
	Updated     time.Time `json:"updated,omitzero"`
	Key         string    `json:"key,omitempty"`     // id of the key that seals it
	Problem     string    `json:"problem,omitempty"` // why it is unreadable; only its name is then known
}

// Rotation is the result of a key rotation.
type Rotation struct {
	Key      string            `json:"key"`               // id of the key that now seals all secrets
	Jobs     int               `json:"jobs"`              // sealed with the new key
	Secrets  int               `json:"secrets"`           // shared secrets, sealed with the new key
	Sources  int               `json:"sources,omitempty"` // sealed with the new key
	Skipped  int               `json:"skipped"`           // jobs, sources and shared secrets that already had this key
	Failures int               `json:"failures"`          // jobs, sources and shared secrets that could not be sealed
	Failed   []RotationFailure `json:"failed"`            // the first 100 failures, by name
}

// RotationFailure is a job, source or shared secret that could not be sealed with the new key.
type RotationFailure struct {
	Job    string `json:"job,omitempty"`    // collection/job
	Secret string `json:"secret,omitempty"` // name of a shared secret
	Source string `json:"source,omitempty"` // collection/source
	Reason string `json:"reason"`
}

// Undecryptable describes stored secrets that a process cannot open: it lacks their key, or has another key with that
// id.
type Undecryptable struct {
	Key     string `json:"key"`               // id of the key that seals them; "" if it is unknown
	Reason  string `json:"reason"`            // why the first one cannot be opened
	Secrets int    `json:"secrets"`           // shared secrets
	Sources int    `json:"sources,omitempty"` // sources with such secrets
	Jobs    int    `json:"jobs"`              // jobs with such secrets, in the sample
	Example string `json:"example"`           // "secret NAME", "source COLLECTION.NAME" or "job COLLECTION/NAME"
}
