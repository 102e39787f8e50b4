package egress

import (
	"errors"
	"net/url"
	"regexp"
)

// quoted is what an error of [url.Parse] shows of the text.
var quoted = regexp.MustCompile(` ?"(?:[^"\\]|\\.)*"`)

// ParseURL parses a URL that a job gives. The error says what is wrong with it and
// shows nothing of it, as it may have a password in an odd place: that of
// http://admin:password/x@host/ is a port to [url.Parse].
func ParseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err == nil {
		return u, nil
	}
	if parse, ok := errors.AsType[*url.Error](err); ok {
		err = parse.Err
	}
	return nil, errors.New(quoted.ReplaceAllString(err.Error(), ""))
}
