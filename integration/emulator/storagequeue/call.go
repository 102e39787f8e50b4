package storagequeue

import (
	"bytes"
	"crypto/md5" //nolint:gosec // Content-MD5 is of the protocol and guards against damage, not against people
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/auth"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/store"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/wire"
)

// drainLimit limits how much of a too long body is read, so that its client reads the response.
const drainLimit = 4 << 20

// A call is a request that is being carried out.
type call struct {
	handler *Handler
	w       http.ResponseWriter
	r       *http.Request
	secure  bool // it came through TLS
	id      string
	now     time.Time
	query   url.Values
	target  target
	rule    *wire.Rule // CORS rule of this request; nil: none
	body    []byte
	status  int // 0 before the answer
}

// send answers. A body is XML.
func (c *call) send(status int, body []byte) {
	header := c.w.Header()
	header.Set("Cache-Control", "no-cache")
	if len(body) > 0 {
		header.Set("Content-Type", "application/xml")
	}
	if c.rule != nil {
		allowOrigin(header, c.rule, c.r.Header.Get("Origin"))
	}
	c.status = status
	c.w.WriteHeader(status)
	_, _ = c.w.Write(body) // the client may have disconnected
}

// readBody reads and verifies the body.
func (c *call) readBody() error {
	body, err := io.ReadAll(io.LimitReader(c.r.Body, wire.MaxBody+1))
	if err != nil {
		return errors.Join(wire.InvalidXML.With("Reason", "the body ended early"), err)
	}
	if len(body) > wire.MaxBody {
		_, _ = io.CopyN(io.Discard, c.r.Body, drainLimit)
		return wire.BodyTooLarge.With("MaxLimit", strconv.Itoa(wire.MaxText))
	}
	c.body = body
	if header := c.r.Header.Get("Content-Md5"); header != "" {
		sum, err := base64.StdEncoding.DecodeString(header)
		if err != nil || len(sum) != md5.Size {
			return wire.InvalidMD5
		}
		if got := md5.Sum(body); !bytes.Equal(got[:], sum) { //nolint:gosec // as above
			return wire.MD5Mismatch
		}
	}
	return nil
}

// integer reads a query parameter.
func (c *call) integer(name string, otherwise, low, high int) (int, error) {
	text := c.query.Get(name)
	if text == "" {
		return otherwise, nil
	}
	number, err := strconv.Atoi(text)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return 0, invalid(c.query, name).With("Reason", "Value must be a number.")
	case err != nil || number < low || number > high:
		return 0, wire.OutOfRangeParameter.With("QueryParameterName", name).With("QueryParameterValue", text).
			With("MinimumAllowed", strconv.Itoa(low)).With("MaximumAllowed", strconv.Itoa(high))
	}
	return number, nil
}

// invalid reports a query parameter with a wrong value.
func invalid(query url.Values, name string) wire.Error {
	return wire.InvalidParameter.With("QueryParameterName", name).With("QueryParameterValue", query.Get(name))
}

// seconds reads a query parameter as a duration.
func (c *call) seconds(name string, otherwise, low, high int) (time.Duration, error) {
	number, err := c.integer(name, otherwise, low, high)
	return time.Duration(number) * time.Second, err
}

// isPrintable reports whether a text has only visible ASCII characters and spaces.
func isPrintable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// An operation is a call of the service.
type operation struct {
	name   string
	level  level
	method string
	comp   string // query parameter that names it; "" for none
	need   auth.Need
	body   bool // has one
	run    func(*call) error
}

// operations are the calls of the service. A signature of a queue permits only some of those on messages, and reading metadata;
// no signature permits those on access policies.
var operations = []operation{
	{"ListQueues", serviceLevel, "GET", "list", auth.Need{Resource: 's', Account: "l"}, false, (*call).listQueues},
	{"GetServiceProperties", serviceLevel, "GET", "properties", auth.Need{Resource: 's', Account: "r"}, false, (*call).getProperties},
	{"SetServiceProperties", serviceLevel, "PUT", "properties", auth.Need{Resource: 's', Account: "w"}, true, (*call).setProperties},
	{"GetServiceStats", serviceLevel, "GET", "stats", auth.Need{Resource: 's', Account: "r"}, false, (*call).getStatistics},
	{"CreateQueue", queueLevel, "PUT", "", auth.Need{Resource: 'c', Account: "cw"}, false, (*call).createQueue},
	{"DeleteQueue", queueLevel, "DELETE", "", auth.Need{Resource: 'c', Account: "d"}, false, (*call).deleteQueue},
	{"GetQueueMetadata", queueLevel, "GET", "metadata", auth.Need{Resource: 'c', Account: "r", Queue: "r"}, false, (*call).getMetadata},
	{"SetQueueMetadata", queueLevel, "PUT", "metadata", auth.Need{Resource: 'c', Account: "w"}, false, (*call).setMetadata},
	{"GetQueueACL", queueLevel, "GET", "acl", auth.Need{Resource: 'c'}, false, (*call).getPolicies},
	{"SetQueueACL", queueLevel, "PUT", "acl", auth.Need{Resource: 'c'}, true, (*call).setPolicies},
	{"PutMessage", messagesLevel, "POST", "", auth.Need{Resource: 'o', Account: "a", Queue: "a"}, true, (*call).putMessage},
	{"GetMessages", messagesLevel, "GET", "", auth.Need{Resource: 'o', Account: "p", Queue: "p"}, false, (*call).getMessages},
	{"PeekMessages", messagesLevel, "GET", "peek", auth.Need{Resource: 'o', Account: "r", Queue: "r"}, false, (*call).peekMessages},
	{"ClearMessages", messagesLevel, "DELETE", "", auth.Need{Resource: 'o', Account: "d"}, false, (*call).clearMessages},
	{"UpdateMessage", messageLevel, "PUT", "", auth.Need{Resource: 'o', Account: "u", Queue: "u"}, true, (*call).updateMessage},
	{"DeleteMessage", messageLevel, "DELETE", "", auth.Need{Resource: 'o', Account: "p", Queue: "p"}, false, (*call).deleteMessage},
}

// findOperation returns the operation of a request. HEAD is GET where the answer is in the headers.
func findOperation(level level, method string, query url.Values) (*operation, error) {
	comp, err := component(level, method, query)
	if err != nil {
		return nil, err
	}
	known := false
	for i := range operations {
		o := &operations[i]
		if o.level != level || o.comp != comp {
			continue
		}
		known = true
		if o.method == method || method == http.MethodHead && o.method == http.MethodGet && level == queueLevel {
			return o, nil
		}
	}
	asked := method == http.MethodGet || method == http.MethodHead
	switch {
	case known && (comp != "" || level != queueLevel || !asked):
		return nil, wire.UnsupportedVerb
	case comp == "":
		return nil, wire.MissingParameter.With("QueryParameterName", "comp")
	}
	return nil, invalid(query, "comp")
}

// component returns the part of a thing that a query names.
func component(level level, method string, query url.Values) (string, error) {
	switch level {
	case serviceLevel:
		comp, restype := query.Get("comp"), query.Get("restype")
		switch {
		case comp != "" && comp != "list" && restype == "":
			return "", wire.MissingParameter.With("QueryParameterName", "restype")
		case restype != "" && restype != "service":
			return "", invalid(query, "restype")
		}
		return comp, nil
	case messagesLevel:
		peek := query.Get("peekonly")
		switch {
		case method != http.MethodGet || peek == "" || strings.EqualFold(peek, "false"):
			return "", nil
		case strings.EqualFold(peek, "true"):
			return "peek", nil
		}
		return "", invalid(query, "peekonly")
	case messageLevel:
		return "", nil
	default:
		return query.Get("comp"), nil
	}
}

// A level is the kind of resource in a URL.
type level int

const (
	serviceLevel level = iota
	queueLevel
	messagesLevel
	messageLevel
)

const secondarySuffix = "-secondary"

// A target is the object of a URL: http://host/account/queue/messages/id, or
// http://account.queue.host/queue/messages/id.
type target struct {
	level     level
	account   string
	secondary bool // the copy of the account that can only be read
	queue     string
	message   string
}

func (t *target) name() store.Name {
	return store.Name{Account: t.account, Queue: t.queue}
}

func parseTarget(r *http.Request) (target, error) {
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/"), "/")
	account, ok := accountOfHost(r.Host)
	if !ok {
		account, parts = parts[0], parts[1:]
	}
	if len(parts) > 0 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	var t target
	t.account, t.secondary = strings.CutSuffix(strings.ToLower(account), secondarySuffix) // it is a host's name, elsewhere
	if !isAccount(t.account) {
		return t, wire.InvalidURI
	}
	switch {
	case len(parts) == 0:
		return t, nil
	case len(parts) > 3 || len(parts) > 1 && parts[1] != "messages":
		return t, wire.InvalidURI
	case len(parts) == 3:
		t.message = parts[2]
	}
	t.level, t.queue = level(len(parts)), parts[0]
	return t, checkQueueName(t.queue)
}

// accountOfHost returns the account of a host name that has one: account.queue.host or account.localhost.
func accountOfHost(hostport string) (string, bool) {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	host = strings.ToLower(host)
	account, rest, ok := strings.Cut(host, ".")
	return account, ok && (rest == "localhost" || strings.HasPrefix(rest, "queue."))
}

// checkQueueName checks the name of a queue.
func checkQueueName(name string) error {
	switch {
	case len(name) < 3 || len(name) > 63:
		return wire.OutOfRangeName
	case !queueName.MatchString(name):
		return wire.InvalidResourceName
	}
	return nil
}

// queueName is lower-case letters and digits, with single dashes between them.
var queueName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
