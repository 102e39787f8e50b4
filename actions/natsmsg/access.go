package natsmsg

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/lru"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// access is where a job's message goes and as whom. The zero access is the
// scheduler's own connection.
type access struct {
	servers     []string // URLs with a port, in the job's order
	credentials document.Secret
	token       document.Secret
	user        string
	password    document.Secret
}

// own reports whether the action uses the scheduler's connection.
func (a *access) own() bool { return len(a.servers) == 0 }

// named reports whether the job has credentials.
func (a *access) named() bool {
	return a.user != "" || !a.token.IsZero() || !a.credentials.IsZero()
}

// ownTarget is the target of all that goes over the scheduler's own connection.
const ownTarget = "nats"

// target is what [scheduler.Action] Target returns: the first server.
func (a *access) target() string {
	if a.own() {
		return ownTarget
	}
	_, host, _ := strings.Cut(a.servers[0], "://")
	return strings.ToLower(host)
}

// The limits of an access, in bytes.
const (
	maxServers = 16
	maxURL     = 512
	maxUser    = 256
)

// readAccess reads servers and the fields that belong to it from o.
func readAccess(o *document.Object) access {
	a := access{servers: readServers(o)}
	a.credentials, _ = o.Secret("credentials")
	a.token, _ = o.Secret("token")
	a.user, _ = o.String("user")
	a.password, _ = o.Secret("password")
	if text, ok := a.credentials.Literal(); ok && !a.credentials.IsZero() && !isCredentials(text) {
		o.Problem("credentials", "is not the text of a credentials file, with a user JWT and an NKEY seed")
	}
	if len(a.user) > maxUser {
		o.Problem("user", "is %d bytes long, at most %d are allowed", len(a.user), maxUser)
	}
	for _, pair := range [...][2]string{{"user", "password"}, {"password", "user"}} {
		if o.Has(pair[0]) && !o.Has(pair[1]) {
			o.Problem(pair[1], "is required beside %s", pair[0])
		}
	}
	given := ""
	for _, name := range []string{"credentials", "token", "user"} {
		switch {
		case !o.Has(name):
		case !o.Has("servers"):
			o.Problem(name, "goes with servers only; the scheduler's own connection has its own")
		case given != "":
			o.Problem(name, "does not go with %s: give one of credentials, token, and user with password", given)
		default:
			given = name
		}
	}
	return a
}

// isCredentials reports whether a text looks like a credentials file. Its
// signature is the server's to check.
func isCredentials(text string) bool {
	return strings.Contains(text, "BEGIN NATS USER JWT") && strings.Contains(text, "BEGIN USER NKEY SEED")
}

// readServers reads the member servers: an array of URLs, or one string of
// them with commas.
func readServers(o *document.Object) []string {
	if o.Describes() {
		_, _ = o.Strings("servers")
		_, _ = o.String("servers")
	}
	v, ok := o.Value("servers")
	if !ok {
		return nil
	}
	var texts []string
	path := func(i int) string { return o.Element("servers", i) }
	if v.Kind() == document.KindString {
		text, _ := o.String("servers")
		texts = strings.Split(text, ",")
		path = func(int) string { return o.Path("servers") }
	} else if texts, ok = o.Strings("servers"); !ok {
		return nil
	}
	if n := len(texts); n == 0 || n > maxServers {
		o.Problem("servers", "has %d elements, 1 to %d are allowed", n, maxServers)
	}
	servers := make([]string, 0, len(texts))
	for i, text := range texts {
		server, err := parseServer(strings.TrimSpace(text))
		if err != nil {
			o.Reader().Problem(path(i), "%v", err)
			continue
		}
		if len(servers) > 0 && isWebSocket(servers[0]) != isWebSocket(server) {
			o.Reader().Problem(path(i), "web sockets and other servers do not go together")
		}
		servers = append(servers, server)
	}
	return servers
}

// ports are the schemes and their default ports.
var ports = map[string]string{"nats": "4222", "tls": "4222", "ws": "80", "wss": "443"}

// parseServer returns the URL of a server in full. Errors do not show possible passwords.
func parseServer(text string) (string, error) {
	if len(text) > maxURL {
		return "", fmt.Errorf("is %d bytes long, at most %d are allowed", len(text), maxURL)
	}
	if text != "" && !strings.Contains(text, "://") {
		text = "nats://" + text
	}
	u, err := egress.ParseURL(text)
	if err != nil || u.Hostname() == "" {
		return "", errors.New("is not the URL of a server, such as nats://nats.example.com:4222")
	}
	port, known := ports[u.Scheme]
	switch {
	case u.User != nil:
		return "", errors.New("must not contain credentials: they have separate fields (credentials, token, user, password)")
	case !known:
		return "", errors.New("has a scheme that is not one of nats, tls, ws, wss")
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return "", errors.New("must end with the port: a server has no path and no query")
	}
	if u.Port() != "" {
		port = u.Port()
	}
	return u.Scheme + "://" + net.JoinHostPort(u.Hostname(), port), nil
}

func isWebSocket(server string) bool { return strings.HasPrefix(server, "ws") }

// login is an access with its secrets revealed, which may differ from attempt
// to attempt.
type login struct {
	servers            []string
	credentials, token string
	user, password     string
}

// reveal reads the secrets for an attempt.
func (a *access) reveal(at scheduler.Attempt) (login, error) {
	l := login{servers: a.servers, user: a.user}
	for _, s := range []struct {
		secret document.Secret
		text   *string
	}{{a.credentials, &l.credentials}, {a.token, &l.token}, {a.password, &l.password}} {
		if s.secret.IsZero() {
			continue
		}
		var err error
		if *s.text, err = at.Reveal(s.secret); err != nil {
			return login{}, err
		}
	}
	return l, nil
}

// key identifies the connection without keeping a secret.
func (l *login) key() lru.Key {
	return lru.Digest(append([]string{l.credentials, l.token, l.user, l.password}, l.servers...)...)
}

// apply adds who connects to the options of a connection.
func (l *login) apply(o *nats.Options) error {
	o.Servers, o.Token, o.User, o.Password = l.servers, l.token, l.user, l.password
	if l.credentials == "" {
		return nil
	}
	err := nats.UserCredentialBytes([]byte(l.credentials))(o)
	if err == nil { // check early: the client cannot distinguish this error from a server's response
		_, err = o.UserJWT()
	}
	if err == nil {
		_, err = o.SignatureCB([]byte("nonce"))
	}
	if err != nil {
		return ofPart(http.StatusUnauthorized, "the credentials file cannot be used: "+reason(err))
	}
	return nil
}
