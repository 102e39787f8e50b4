package storagequeue

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/actions/netreason"
)

// token is a shared access signature (SAS).
type token struct {
	query  string   // for a URL, escaped
	signed bool     // it has a signature
	hidden []string // what of it must not be recorded
	start  time.Time
	expiry time.Time // zero: it does not say
}

// accountKey is the length in bytes of an account's key.
const accountKey = 64

// parseToken reads a token as users paste it. It refuses a text that cannot be a token, or is one for another
// purpose, but accepts a word such as TOKEN in Azure's samples, which emulators accept. It ignores the expiry
// (see [token.expired]), so its result depends on the text alone. Its error contains no secret part of the text.
func parseToken(text string) (token, error) {
	text = strings.TrimPrefix(strings.TrimSpace(text), "?")
	switch key, err := base64.StdEncoding.DecodeString(text); {
	case text == "":
		return token{}, errors.New("is empty")
	case err == nil && len(key) == accountKey:
		return token{}, errors.New("is the key of the account, which may do everything: " +
			"make a shared access signature with it that may add messages, and write that")
	case isConnectionString(text):
		return token{}, errors.New("is a connection string: write only the shared access signature, sv=…&sig=…")
	case strings.Contains(text, "://"):
		return token{}, errors.New("is a URL: write only what follows its ?")
	case strings.Contains(text, "&amp;"):
		return token{}, errors.New("is escaped for HTML: write & for &amp;")
	case strings.ContainsFunc(text, oddInQuery):
		return token{}, errors.New("has a space, a quote or another character that no query string has")
	}
	return parseQuery(text)
}

func oddInQuery(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune("\"#'<>\\^`{|}", r)
}

// parseQuery reads the parameters of a token.
func parseQuery(text string) (token, error) {
	var t token
	values := map[string]string{}
	parts := strings.Split(text, "&")
	for i, part := range parts {
		escaped, raw, _ := strings.Cut(part, "=")
		name, err := url.QueryUnescape(escaped)
		if err == nil && name == "sig" {
			raw = strings.ReplaceAll(raw, "+", "%2B") // in base64 a plus is never a space
			parts[i] = "sig=" + raw
		}
		value, bad := url.QueryUnescape(raw)
		switch {
		case err != nil || bad != nil:
			return token{}, errors.New("has a % without two hexadecimal digits after it")
		case name == "" && part != "":
			return token{}, errors.New("has a value without a name before its =")
		}
		values[name] = value
		if name == "sig" {
			t.hidden = append(t.hidden, value, raw)
		}
	}
	t.query = strings.Join(parts, "&")
	if t.signed = values["sig"] != ""; !t.signed {
		t.hidden = append(t.hidden, t.query) // any part of it may be secret
	}
	t.start, t.expiry = tokenTime(values["st"]), tokenTime(values["se"])
	return t, checkToken(values)
}

// checkToken says what in the parameters of a token keeps it from adding messages to a queue.
func checkToken(values map[string]string) error {
	_, given := values["sig"]
	lacks := func(name, letter string) bool { return values[name] != "" && !strings.Contains(values[name], letter) }
	switch {
	case strings.Contains(values["sig"], "%"):
		return errors.New("is escaped twice: its sig still has a % when it is unescaped")
	case values["sig"] == "" && given:
		return errors.New("has an empty sig, which is the signature")
	case values["sig"] == "" && values["sv"] != "":
		return errors.New("has no sig, which is the signature")
	case lacks("sp", "a"):
		return fmt.Errorf("does not permit adding messages: its sp=%s has no a", printable(values["sp"]))
	case lacks("ss", "q"):
		return fmt.Errorf("is not for queues: its ss=%s has no q", printable(values["ss"]))
	case lacks("srt", "o"):
		return fmt.Errorf("is not for messages: its srt=%s has no o", printable(values["srt"]))
	}
	return nil
}

// expired says that a token is of no use any more.
func (t token) expired(now time.Time) error {
	if t.expiry.IsZero() || t.expiry.After(now) {
		return nil
	}
	return errors.New("expired at " + t.expiry.Format(time.RFC3339))
}

// printable is the beginning of a text with what could not be shown left out.
func printable(text string) string {
	return netreason.Cut(strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f {
			return -1
		}
		return r
	}, text), 16)
}

// tokenTimes are the forms of a time in a token.
var tokenTimes = []string{time.RFC3339, "2006-01-02T15:04Z07:00", time.DateOnly}

// tokenTime reads a time in a token; zero is none.
func tokenTime(text string) time.Time {
	for _, form := range tokenTimes {
		if t, err := time.Parse(form, text); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}
