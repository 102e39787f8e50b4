package protocol

import (
	"net/http"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/auth"
)

// maxTokens is how many paths a connection may have tokens for.
const maxTokens = 10_000

// cbs answers a request to "$cbs": it takes a token for an entity.
func (r *request) cbs() response {
	if r.operation != "put-token" {
		return response{code: http.StatusNotImplemented, description: "The operation is not supported.", condition: condNotImplemented}
	}
	audience, _ := r.parameters.Get("name").(string)
	token, _ := r.value.(string)
	grant, until, err := r.conn.server.config.Keys.Token(token, audience, time.Now())
	if err != nil {
		return response{code: http.StatusUnauthorized, description: err.Error(), condition: condUnauthorized}
	}
	path := entityPath(audience)
	entity, _ := nodePath(path)
	if entity != "" && !r.conn.server.config.Broker.Exists(entity) {
		return failure(notFound(entity))
	}
	return r.conn.keep(path, permit{grant.Rights, until})
}

// A permit is what a client may do with a path and what is below it.
type permit struct {
	rights auth.Rights
	until  time.Time
}

// keep takes note of a permit.
func (c *conn) keep(path string, given permit) response {
	path = auth.Path(path)
	if _, ok := c.tokens[path]; !ok && len(c.tokens) >= maxTokens {
		return failure(&amqp.Error{Condition: condLimit, Description: "too many tokens on one connection"})
	}
	c.tokens[path] = given
	return response{code: http.StatusAccepted, description: "Accepted"}
}
