package access

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
