package servicebus

import (
	"log/slog"
	"net/http"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/protocol"
)

// explainer returns what tells the developer of a client why a request over HTTP was refused, as it is told of AMQP. Without a
// logger there is nobody to tell.
func explainer(log *slog.Logger) func(r *http.Request, what, entity string, err error) {
	if log == nil {
		return nil
	}
	return func(r *http.Request, what, entity string, err error) {
		attributes := []any{
			slog.String("client", r.RemoteAddr), slog.String("agent", r.UserAgent()), slog.String("what", what),
		}
		if entity != "" {
			attributes = append(attributes, slog.String("entity", entity))
		}
		attributes = append(attributes, slog.Any("err", err))
		if hint := protocol.Hint(err); hint != "" {
			attributes = append(attributes, slog.String("hint", hint))
		}
		log.Warn("refused a client", attributes...)
	}
}
