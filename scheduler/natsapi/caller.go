package natsapi

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/control"
)

const (
	// infoHeader is where a server describes the sender of a request, for an account that imports the service (NATS:
	// "Share" of a service import).
	infoHeader = "Nats-Request-Info"

	// traceHeader makes a server report the path of a message (NATS ADR-41).
	traceHeader = "Nats-Trace-Dest"

	// importReply is the prefix of the reply subject of such a request. The server lets no client use it, so the header
	// is the server's. Otherwise any client may have written the header.
	importReply = "_R_."

	// ClaimHeader holds the name that the sender of a spec or a request claims. It is not verified.
	ClaimHeader = "Carillon-By"
)

// requestInfo is the server's description of the sender of a request.
type requestInfo struct {
	Account string `json:"acc"`
	User    string `json:"user"`
	NameTag string `json:"name_tag"` // name of a user with a JWT
	Host    string `json:"host"`
}

// withCaller stores the caller in the context: the server's information if present, else the claimed name. The server
// has already authorized the caller, by the permissions of the subject.
func withCaller(ctx context.Context, reply string, header func(string) string) context.Context {
	p := auth.Anonymous(auth.ViaNATS, "")
	var info requestInfo
	if strings.HasPrefix(reply, importReply) && json.Unmarshal([]byte(header(infoHeader)), &info) == nil {
		p.Name, p.Address = info.name(), info.Host
	}
	if p.Name == "" {
		ctx = control.WithClaim(ctx, header(ClaimHeader))
	}
	return auth.With(ctx, p)
}

// name returns the caller's name: the account if it shares no information about its users.
func (i *requestInfo) name() string {
	switch {
	case i.NameTag != "":
		return i.NameTag
	case i.User != "":
		return i.User
	}
	return i.Account
}

// answerHeaders identify the answers of this API and of micro services.
var answerHeaders = []string{statusHeader, "Nats-Service-Error", "Nats-Service-Error-Code"}

// isAnswer reports whether a spec, or a request without a reply subject, is the answer to another request. A client
// could name a spec's subject as the reply subject of a request, and so send a message to a subject on which it may not
// publish. Answers of JetStream and of service discovery have no such headers. Where no document is needed, isAnswer
// recognizes them by their form.
func isAnswer(header nats.Header, body []byte, document bool) bool {
	for _, name := range answerHeaders {
		if header.Get(name) != "" {
			return true
		}
	}
	if document || len(body) == 0 || body[0] != '{' {
		return false
	}
	var form struct {
		Type   string          `json:"type"`
		Stream string          `json:"stream"`
		Error  json.RawMessage `json:"error"`
	}
	return json.Unmarshal(body, &form) == nil &&
		(form.Stream != "" || len(form.Error) > 0 || strings.HasPrefix(form.Type, "io.nats."))
}

// mayAnswer reports whether an answer may be sent to a subject. Subjects of the scheduler and of the server are
// refused: the answer would be a request there that its caller may not be permitted to make.
func mayAnswer(reply, prefix string) bool {
	return !strings.HasPrefix(reply, "$") && !strings.HasPrefix(reply, prefix+".")
}
