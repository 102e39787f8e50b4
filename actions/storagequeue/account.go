package storagequeue

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/netreason"
)

// Where Azure keeps accounts: https://<account>.queue.core.windows.net.
const (
	azureDomain = ".core.windows.net"
	azureQueues = ".queue" + azureDomain
)

// account is where an action's queue is.
type account struct {
	name     string // as messages show it
	endpoint string // its URL, without a slash at the end
	host     string // of the endpoint, with a port if there is one
	target   string // what limits know it by: Azure's host of a name, else host and path of the endpoint
	broken   string // problem of the endpoint in the scheduler's configuration, or ""
}

// settingError is a mistake in the scheduler's configuration and not in the job.
type settingError struct{ error }

// findAccount finds the account that a job names, by its name or its endpoint.
func findAccount(text string, endpoints egress.Endpoints) (account, error) {
	switch {
	case isConnectionString(text): // not shown: it holds a key
		return account{}, errors.New("is a connection string: write only the name of the account, " +
			"and a shared access signature in sasToken")
	case strings.Contains(text, "://"):
		return findEndpoint(text, endpoints)
	}
	name := strings.ToLower(text)
	if host, ok := strings.CutSuffix(name, azureQueues); ok && isAccount(host) {
		return account{}, fmt.Errorf("is a host name: write the account's name alone, %s, or https://%s", host, name)
	}
	if err := checkAccount(name); err != nil {
		return account{}, err
	}
	return locate(name, endpoints)
}

// locate returns the endpoint of an account: the configured one, or Azure's.
func locate(name string, endpoints egress.Endpoints) (account, error) {
	u, err := parseEndpoint(cmp.Or(endpoints.Find(name), "https://"+name+azureQueues))
	if err != nil {
		err = fmt.Errorf("has an endpoint in the scheduler's configuration that %w", err)
		return account{name: name, target: name + azureQueues, broken: err.Error()}, settingError{err}
	}
	a := place(u)
	a.name, a.target = name, name+azureQueues // ignoring mapped endpoints
	return a, nil
}

// findEndpoint finds the account at an endpoint that a job gives. For Azure's endpoint, it returns only the name.
func findEndpoint(text string, endpoints egress.Endpoints) (account, error) {
	u, err := parseEndpoint(text)
	if err != nil {
		return account{}, err
	}
	host := u.Hostname()
	if name, ok := strings.CutSuffix(host, azureQueues); ok {
		switch {
		case strings.HasSuffix(name, "-secondary"):
			return account{}, errors.New("is the secondary of the account, which takes no messages")
		case !isAccount(name):
			return account{}, checkAccount(name)
		case u.Path != "":
			return account{}, fmt.Errorf("has a path: write https://%s, and the queue in queueName", host)
		case u.Scheme != "https":
			return account{}, fmt.Errorf("must be https://%s: over http, the network sees the signature", host)
		}
		return locate(name, endpoints)
	}
	if rest, ok := strings.CutSuffix(host, azureDomain); ok {
		name, _, _ := strings.Cut(rest, ".")
		return account{}, fmt.Errorf("is not where queues are: write https://%s%s, or %s alone", name, azureQueues, name)
	}
	if _, err := netip.ParseAddr(host); u.Path == "" && (err == nil || !strings.Contains(host, ".")) {
		return account{}, fmt.Errorf("does not name the account: write %s://%s/devstoreaccount1 or the like", u.Scheme, u.Host)
	}
	return place(u), nil
}

// place is the account at an endpoint. Its name is the path, or the first label of a host such as name.queue.example.com.
func place(u *url.URL) account {
	a := account{name: u.Host, endpoint: u.Scheme + "://" + u.Host + u.Path, host: u.Host, target: u.Host + u.Path}
	label, rest, _ := strings.Cut(u.Hostname(), ".")
	switch {
	case u.Path != "":
		a.name = u.Path[1:]
	case strings.HasPrefix(rest, "queue.") || strings.Contains(rest, ".queue.") || rest == "localhost":
		a.name = label
	}
	return a
}

// parseEndpoint reads http(s)://host[:port][/account]. The result has a lower-case scheme and host and no slash at the
// end. The error shows nothing of a query, as that may be a signature.
func parseEndpoint(text string) (*url.URL, error) {
	if strings.ContainsAny(text, "?#") {
		return nil, errors.New("has a query: write the endpoint up to the ?, and a shared access signature in sasToken")
	}
	u, err := egress.ParseURL(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("is not a URL: %w", err)
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("must begin with https:// or http://")
	case u.User != nil:
		return nil, errors.New("must not hold a user name: what gives access is sasToken")
	case u.Hostname() == "":
		return nil, errors.New("has no host")
	case egress.OddHost(u.Hostname()):
		return nil, errors.New("has a host that is neither a name nor an address in its usual form")
	}
	u.Host = strings.ToLower(u.Host)
	u.Path = strings.TrimSuffix(u.Path, "/")
	if strings.Count(u.Path, "/") > 1 || strings.ContainsFunc(strings.TrimPrefix(u.Path, "/"), oddInPath) {
		return nil, errors.New("has a path that is not an account's name: write http(s)://host:port/account, and the queue in queueName")
	}
	return u, nil
}

func oddInPath(r rune) bool {
	return !isLower(r) && (r < 'A' || r > 'Z') && r != '-' && r != '_'
}

// isLower reports whether a character is a lower-case letter or a digit.
func isLower(r rune) bool { return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' }

func isAccount(name string) bool { return checkAccount(name) == nil }

// checkAccount checks the name of an account, in lower case.
func checkAccount(name string) error {
	switch i := strings.IndexFunc(name, func(r rune) bool { return !isLower(r) }); {
	case i >= 0:
		odd, _ := utf8.DecodeRuneInString(name[i:])
		return fmt.Errorf("has %q in it: an account's name has 3 to 24 letters and digits and nothing else; "+
			"an endpoint begins with http:// or https://", odd)
	case len(name) < 3 || len(name) > 24:
		return fmt.Errorf("has a length of %d: an account's name has 3 to 24 letters and digits", len(name))
	}
	return nil
}

// isConnectionString reports whether a text is what Azure's portal calls a connection string.
func isConnectionString(text string) bool {
	folded := strings.ToLower(text)
	parts := []string{"accountkey=", "accountname=", "defaultendpointsprotocol=", "sharedaccesssignature=", "queueendpoint="}
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(folded, part) })
}

// token is a shared access signature (SAS).
type token struct {
	query  string   // for a URL, escaped
	signed bool     // it has a signature
	hidden []string // parts that must not be recorded
	start  time.Time
	expiry time.Time // zero: it does not say

	account bool   // it is for the account, and not for one queue
	permits string // the letters of its permissions
}

// accountKey is the length in bytes of an account's key.
const accountKey = 64

// permission is a permission of a token, with its verb in messages.
type permission struct{ letter, verb, doing string }

var (
	mayAdd     = permission{"a", "add", "adding"}
	mayProcess = permission{"p", "process", "processing"}
	mayUpdate  = permission{"u", "update", "updating"}
)

// parseToken reads a token as users paste it. It refuses a text that cannot be a token, or is one for another
// purpose, but accepts a word such as TOKEN in Azure's samples, which emulators accept. It ignores the expiry
// (see [token.expired]), so its result depends on the text alone. Its error contains no secret part of the text.
func parseToken(text string, needs ...permission) (token, error) {
	text = strings.TrimPrefix(strings.TrimSpace(text), "?")
	switch key, err := base64.StdEncoding.DecodeString(text); {
	case text == "":
		return token{}, errors.New("is empty")
	case err == nil && len(key) == accountKey:
		return token{}, errors.New("is the key of the account, which may do everything: " +
			"make a shared access signature with it that may " + needs[0].verb + " messages, and write that")
	case isConnectionString(text):
		return token{}, errors.New("is a connection string: write only the shared access signature, sv=…&sig=…")
	case strings.Contains(text, "://"):
		return token{}, errors.New("is a URL: write only what follows its ?")
	case strings.Contains(text, "&amp;"):
		return token{}, errors.New("is escaped for HTML: write & for &amp;")
	case strings.ContainsFunc(text, oddInQuery):
		return token{}, errors.New("has a space, a quote or another character that no query string has")
	}
	return parseQuery(text, needs...)
}

func oddInQuery(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune("\"#'<>\\^`{|}", r)
}

// parseQuery reads the parameters of a token.
func parseQuery(text string, needs ...permission) (token, error) {
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
	t.account, t.permits = values["ss"] != "", values["sp"]
	return t, checkToken(values, needs)
}

// checkToken returns the reason why the parameters of a token do not permit an action or a source to work.
func checkToken(values map[string]string, needs []permission) error {
	_, given := values["sig"]
	lacks := func(name, letter string) bool { return values[name] != "" && !strings.Contains(values[name], letter) }
	switch {
	case strings.Contains(values["sig"], "%"):
		return errors.New("is escaped twice: its sig still has a % when it is unescaped")
	case values["sig"] == "" && given:
		return errors.New("has an empty sig, which is the signature")
	case values["sig"] == "" && values["sv"] != "":
		return errors.New("has no sig, which is the signature")
	case lacks("ss", "q"):
		return fmt.Errorf("is not for queues: its ss=%s has no q", printable(values["ss"]))
	case lacks("srt", "o"):
		return fmt.Errorf("is not for messages: its srt=%s has no o", printable(values["srt"]))
	}
	for _, p := range needs {
		if lacks("sp", p.letter) {
			return fmt.Errorf("does not permit %s messages: its sp=%s has no %s", p.doing, printable(values["sp"]), p.letter)
		}
	}
	return nil
}

// buries reports whether the token may move messages to a queue that it creates.
func (t token) buries() bool {
	return !t.signed || t.account && strings.Contains(t.permits, "a") && strings.ContainsAny(t.permits, "cw")
}

// expired reports an expired token.
func (t token) expired(now time.Time) error {
	if t.expiry.IsZero() || t.expiry.After(now) {
		return nil
	}
	return errors.New("expired at " + t.expiry.Format(time.RFC3339))
}

// printable returns the beginning of a text without unprintable characters.
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

// tokenTime reads a time in a token; zero: none.
func tokenTime(text string) time.Time {
	for _, form := range tokenTimes {
		if t, err := time.Parse(form, text); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}
