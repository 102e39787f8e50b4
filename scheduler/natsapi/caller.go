package natsapi

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/service"
)

const (
	// infoHeader is where a server says who sends a request, of an account that imports the service (NATS: "Share" of a
	// service import).
	infoHeader = "Nats-Request-Info"

	// traceHeader has a server report the way of a message (NATS ADR-41).
	traceHeader = "Nats-Trace-Dest"

	// importReply begins the subject of the answer to such a request. The server lets no client send one, so what the
	// header says then is the server's word; else anybody may have written it.
	importReply = "_R_."

	// ClaimHeader is where whoever publishes a spec or asks for something may say who it is. Nobody checks it.
	ClaimHeader = "Carillon-By"
)

// requestInfo is what a server says of who sends a request.
type requestInfo struct {
	Account string `json:"acc"`
	User    string `json:"user"`
	NameTag string `json:"name_tag"` // of a user with a JWT: its name
	Host    string `json:"host"`
}

// withCaller notes who asks, as far as the server tells, and else who it says it is. What it may do the server has decided
// already, by the permissions of the subject.
func withCaller(ctx context.Context, reply string, header func(string) string) context.Context {
	p := access.Anybody(access.ViaNATS, "")
	var info requestInfo
	if strings.HasPrefix(reply, importReply) && json.Unmarshal([]byte(header(infoHeader)), &info) == nil {
		p.Name, p.Address = info.name(), info.Host
	}
	if p.Name == "" {
		ctx = service.WithClaim(ctx, header(ClaimHeader))
	}
	return access.With(ctx, p)
}

// name is who it is: of an account that shares nothing about its users, the account.
func (i *requestInfo) name() string {
	switch {
	case i.NameTag != "":
		return i.NameTag
	case i.User != "":
		return i.User
	}
	return i.Account
}

// answerHeaders are those of answers: of this API, and of micro services.
var answerHeaders = []string{statusHeader, "Nats-Service-Error", "Nats-Service-Error-Code"}

// isAnswer reports whether a spec, or a request that wants no answer, is itself one: to a request that had its subject for
// the reply, and whose sender might not publish to that. Answers of JetStream and of the discovery of services are told by
// their form, where no document is needed; they are none.
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

// mayAnswer reports whether an answer may be sent to a subject: not to those of the scheduler, or of the server, on which it
// would be an order that nobody may have been permitted to give.
func mayAnswer(reply, prefix string) bool {
	return !strings.HasPrefix(reply, "$") && !strings.HasPrefix(reply, prefix+".")
}
