package rest

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/guard"
	"github.com/carillon-sched/carillon/scheduler/source"
	"github.com/carillon-sched/carillon/scheduler/source/webhook"
	"github.com/carillon-sched/carillon/scheduler/throttle"
)

// hookPattern is the pattern of webhooks. Their senders know the server by any name, and are not pages of it, so the
// checks of Host and Origin apply only where no signature or secret token verifies the sender.
const hookPattern = "/events/{c}/{n}"

// isHook matches the requests of webhooks. A redirect to one has the same pattern, but another handler.
var isHook = func() func(r *http.Request) bool {
	mux, hook := http.NewServeMux(), http.Handler(new(http.ServeMux))
	mux.Handle(hookPattern, hook)
	return func(r *http.Request) bool {
		h, _ := mux.Handler(r)
		return h == hook
	}
}()

// errNoHook is the error of every address without an enabled webhook. It does not reveal which sources exist.
var errNoHook = fault{http.StatusNotFound, "ResourceNotFound", "no webhook has this address"}

// hook returns the enabled source of a webhook that a request names.
func (a *server) hook(r *http.Request) (*source.Source, error) {
	s, err := a.Service.Known(r.Context(), key(r))
	_, damaged := errors.AsType[*scheduler.DamagedError](err)
	switch {
	case errors.Is(err, scheduler.ErrNotFound), damaged:
		return nil, errNoHook
	case err != nil:
		return nil, err
	case s.Webhook == nil, !s.Enabled(), !a.Service.Serves(r.Context(), s.Key.Collection):
		return nil, errNoHook
	}
	return s, nil
}

// receiveWebhook stores the event of a webhook. It verifies the sender first, without reading the body where that is
// possible, and limits the rate of verified requests only, so that others cannot use up the limit.
func (a *server) receiveWebhook(w http.ResponseWriter, r *http.Request) error {
	s, err := a.hook(r)
	if err != nil {
		return err
	}
	v, err := a.publishHook(w, r, s)
	if err != nil {
		refusal := describe(err)
		a.Webhook(s.Key, refusal.Status, false, refusal.Message)
		return err
	}
	a.Webhook(s.Key, http.StatusAccepted, v.Duplicate, "")
	return answer(w, http.StatusAccepted, v)
}

func (a *server) publishHook(w http.ResponseWriter, r *http.Request, s *source.Source) (v *v1.PublishedEvent, err error) {
	if err := a.checkSite(s.Webhook, r); err != nil {
		return nil, err
	}
	bodiless := s.Webhook.Verify.Scheme == source.Basic || s.Webhook.Verify.Scheme == source.Token
	if bodiless {
		err = a.verify(w, s, r, nil)
	}
	if err != nil {
		return nil, err
	}
	body, err := readContent(w, r, s.Webhook.MaxBytes)
	if err == nil && !bodiless {
		err = a.verify(w, s, r, body)
	}
	if err != nil {
		return nil, err
	}
	limit := s.Webhook.RateLimit
	caller, perSecond := fmt.Sprint(s.UID, limit), float64(limit.Requests)/limit.Period.Seconds()
	if wait, ok := a.hooks.AllowRate(caller, perSecond, limit.Requests, a.Service.Now()); !ok {
		return nil, &throttle.Exceeded{After: wait, Message: "too many events of the webhook; try again later"}
	}
	header := webhook.Headers(s, r.Header, body)
	return a.Service.PublishEvent(lasting(r), s.Topic(), header, body)
}

// errJobHook is the answer to a job: its request comes from the server, which the network around it may trust, and the
// operators of another collection may have written it.
var errJobHook = fault{
	http.StatusForbidden, "AuthorizationFailed", "jobs cannot use webhooks; publish the event with an access token instead",
}

// checkSite refuses jobs, and applies the checks of Host and Origin to a webhook whose sender a browser could be.
func (a *server) checkSite(h *source.Webhook, r *http.Request) error {
	if r.Header[scheduler.JobHeader] != nil {
		return errJobHook
	}
	if h.Verify.Scheme != source.None && h.Verify.Scheme != source.Basic {
		return nil
	}
	if text := guard.UnknownHost(a.AllowHost, r); text != "" {
		return fault{http.StatusMisdirectedRequest, "UnknownHost", text}
	}
	if http.NewCrossOriginProtection().Check(r) != nil {
		return errCrossOrigin
	}
	return nil
}

// challenges are the authentication schemes of a 401, which must name one (RFC 9110, section 15.5.2). Signatures of
// webhooks have no registered scheme.
var challenges = map[source.Scheme]string{
	source.Basic: "Basic", source.Token: "Bearer",
	source.Standard: "Webhook", source.GitHub: "Webhook", source.Stripe: "Webhook", source.HMAC: "Webhook",
}

// verify verifies the sender. The reason of a refusal is for the log only.
func (a *server) verify(w http.ResponseWriter, s *source.Source, r *http.Request, body []byte) error {
	secret, err := "", error(nil)
	if s.Webhook.Verify.Scheme != source.None {
		secret, err = a.Service.SourceSecret(r.Context(), s.Webhook.Verify.Secret)
	}
	if err == nil {
		err = webhook.Verify(s.Webhook, secret, r.Header, body, a.Service.Now())
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, webhook.ErrUnverified):
		a.Logger.DebugContext(r.Context(), "webhook refused", "eventSource", s.Key, "err", err)
		w.Header().Set("WWW-Authenticate", challenges[s.Webhook.Verify.Scheme]+` realm="carillon"`)
		return fault{
			http.StatusUnauthorized, "AuthenticationFailed", "the sender is not verified: check the secret and the clock of the sender",
		}
	}
	level, omitted := a.hookLog.Level() // unverified clients can send any number of requests
	a.Logger.Log(r.Context(), level, "webhook cannot be verified", "eventSource", s.Key, "others", omitted, "err", err)
	return fault{http.StatusServiceUnavailable, "ServiceUnavailable", "the sender cannot be verified now; try again later"}
}

// maxChallenge is the maximum length of a challenge in bytes.
const maxChallenge = 1024

// challengeWebhook answers the challenge of a provider as plain text.
func (a *server) challengeWebhook(w http.ResponseWriter, r *http.Request) error {
	s, err := a.hook(r)
	if err != nil {
		return err
	}
	text := ""
	if s.Webhook.Challenge != "" {
		text = r.URL.Query().Get(s.Webhook.Challenge)
	}
	if text == "" || len(text) > maxChallenge {
		return errNoHook
	}
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte(text)) //nolint:gosec // plain text, which no browser renders as HTML
	return nil
}

// publishEvent stores the body as an event, with the headers that describe it.
func (a *server) publishEvent(w http.ResponseWriter, r *http.Request) error {
	body, err := readContent(w, r, scheduler.MaxEventSize)
	if err != nil {
		return err
	}
	topic := scheduler.Topic{Collection: r.PathValue("c"), Name: r.PathValue("e")}
	v, err := a.Service.PublishEvent(lasting(r), topic, scheduler.EventHeaders(r.Header), body)
	if err != nil {
		return err
	}
	return answer(w, http.StatusAccepted, v)
}
