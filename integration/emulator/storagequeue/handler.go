package storagequeue

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/internal/browser"
	"github.com/carillon-sched/carillon/integration/emulator/internal/exposition"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/auth"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/store"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/wire"
)

const (
	// version is the service version of answers to requests that name none.
	version = "2026-04-06"
	// challenge is the service's response to unauthenticated requests.
	challenge = "Bearer authorization_uri=https://login.microsoftonline.com/common/oauth2/authorize resource_id=https://storage.azure.com"
	// maxClientID limits the x-ms-client-request-id that is returned.
	maxClientID = 1024
)

// A Handler is an emulator without a server.
type Handler struct {
	cfg     Config
	keys    map[string][]byte // of the accounts
	store   *store.Store
	metrics *exposition.Metrics
	counted http.Handler // serve, counted
}

// Open returns an emulator as an HTTP handler. Addr and Certificate of the configuration have no effect. Names of metadata come
// back in lower case, since a handler does not see how they were written.
func Open(cfg Config) (*Handler, error) {
	keys, err := cfg.keyring()
	if err != nil {
		return nil, fmt.Errorf("storagequeue: %w", err)
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	kept, err := store.Open(store.Config{Dir: cfg.Data, Sync: cfg.Sync, AutoCreate: cfg.AutoCreate, Logger: cfg.Logger})
	if err != nil {
		return nil, fmt.Errorf("storagequeue: %w", err)
	}
	h := &Handler{cfg: cfg, keys: keys, store: kept, metrics: exposition.New(metricPrefix)}
	h.metrics.Collect(h.collect)
	h.counted = h.metrics.Counting(http.HandlerFunc(h.serve))
	return h, nil
}

// Close ends the use of the data folder. Requests must have ended. A second call does nothing.
func (h *Handler) Close() error {
	return h.store.Close()
}

// ServeHTTP answers a request of the service.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.counted.ServeHTTP(w, r) }

func (h *Handler) serve(w http.ResponseWriter, r *http.Request) {
	c := &call{handler: h, w: w, r: r, id: store.NewID(), now: time.Now().UTC().Round(0)}
	c.secure = r.TLS != nil || r.Context().Value(secureKey{}) != nil
	defer func() {
		if defect := recover(); defect != nil {
			c.fail(defect)
		}
	}()
	serve := c.serve
	if c.isMetrics() {
		serve = c.metrics
	}
	err := serve()
	if err != nil {
		c.refuse(err)
	}
	h.cfg.Logger.Debug("storage queue request", "method", r.Method, "path", r.URL.Path, "status", c.status, "requestId", c.id, "err", err)
}

// serve carries a request out, or returns why not.
func (c *call) serve() error {
	header := c.w.Header()
	header.Set("Server", "Carillon-Queue/1.0")
	header.Set("X-Ms-Request-Id", c.id)
	header.Set("X-Ms-Version", version)
	if id := c.r.Header.Get("X-Ms-Client-Request-Id"); id != "" && isPrintable(id) && len(id) <= maxClientID {
		header.Set("X-Ms-Client-Request-Id", id)
	}
	if asked := c.r.Header.Get("X-Ms-Version"); asked != "" {
		if _, err := time.Parse(time.DateOnly, asked); err != nil {
			return wire.InvalidHeader.With("HeaderName", "x-ms-version").With("HeaderValue", asked)
		}
		header.Set("X-Ms-Version", asked)
	}
	var err error
	if c.query, err = url.ParseQuery(c.r.URL.RawQuery); err != nil {
		return wire.InvalidURI
	}
	if c.target, err = c.find(); err != nil {
		return err
	}
	if c.r.Method == http.MethodOptions {
		return c.preflight()
	}
	if err := c.match(); err != nil {
		return err
	}
	op, err := findOperation(c.target.level, c.r.Method, c.query)
	if err != nil {
		return err
	}
	if err := c.authorize(op.need); err != nil {
		return err
	}
	if c.target.secondary && op.method != http.MethodGet || c.target.secondary && op.name == "GetMessages" {
		return wire.ReadOnly
	}
	if _, err := c.integer("timeout", 0, 0, 1<<31-1); err != nil {
		return err
	}
	if op.body {
		if err := c.readBody(); err != nil {
			return err
		}
		c.now = time.Now().UTC().Round(0) // a body can take its time
	}
	return c.translate(op.run(c))
}

// find parses the URL, if its host belongs to this server.
func (c *call) find() (target, error) {
	if !c.isMine() {
		return target{}, wire.UnknownHost
	}
	return parseTarget(c.r)
}

// isMine reports whether the host of the request is one of this server's names.
func (c *call) isMine() bool {
	return c.handler.cfg.AllowHost == nil || c.handler.cfg.AllowHost(c.r.Host)
}

// match finds the rule of CORS for the request. A page of another origin needs one: what looks like a form is sent without
// preflight.
func (c *call) match() error {
	c.rule = matchRule(c.handler.store.Properties(c.target.account).CORS, c.r)
	if c.rule == nil && browser.Foreign(c.r) {
		return wire.ForeignPage
	}
	return nil
}

// authorize returns nil if the request is allowed.
func (c *call) authorize(need auth.Need) error {
	h := c.handler
	key, ok := h.keys[c.target.account]
	switch {
	case h.cfg.Keys == Lenient:
		return nil
	case !ok:
		return wire.ResourceNotFound
	}
	remote, _ := netip.ParseAddrPort(c.r.RemoteAddr) // the zero address is in no range
	return auth.Verify(auth.Request{
		Method:  c.r.Method,
		Path:    c.r.URL.EscapedPath(),
		Query:   c.query,
		Header:  c.r.Header,
		Length:  c.r.ContentLength,
		Account: c.target.account,
		Queue:   c.target.queue,
		Secure:  c.secure,
		Remote:  remote.Addr(),
		Need:    need,
	}, key, c.policy, c.now)
}

// policy finds a stored access policy of the request's queue.
func (c *call) policy(id string) (wire.Policy, bool) {
	queue, err := c.handler.store.Queue(c.target.name(), c.now)
	if err != nil {
		return wire.Policy{}, false
	}
	if i := slices.IndexFunc(queue.Policies, func(p wire.Policy) bool { return p.ID == id }); i >= 0 {
		return queue.Policies[i], true
	}
	return wire.Policy{}, false
}

// translate turns an error of the store into an answer.
func (c *call) translate(err error) error {
	switch {
	case errors.Is(err, store.ErrNoQueue):
		return wire.QueueNotFound
	case errors.Is(err, store.ErrQueueExists):
		return wire.QueueAlreadyExists
	case errors.Is(err, store.ErrNoMessage):
		return wire.MessageNotFound
	case errors.Is(err, store.ErrReceipt):
		return wire.PopReceiptMismatch
	}
	return err
}

// refuse answers with an error.
func (c *call) refuse(err error) {
	answer, ok := errors.AsType[wire.Error](err)
	switch {
	case c.r.Context().Err() != nil && !ok:
		return // the client has disconnected
	case !ok:
		c.handler.cfg.Logger.Error("storage queue request did not succeed", "requestId", c.id, "err", err)
		answer = wire.InternalError
	case answer.Code == wire.NoAuthentication.Code:
		c.w.Header().Set("Www-Authenticate", challenge)
	case answer.Code == wire.UnsupportedVerb.Code:
		c.w.Header().Set("Allow", allowed(c.target.level))
	}
	c.w.Header().Set("X-Ms-Error-Code", answer.Code)
	c.send(answer.Status, answer.Body(c.id, c.now))
}

// allowed lists the methods of a level.
func allowed(level level) string {
	methods := []string{http.MethodOptions}
	for i := range operations {
		if operations[i].level == level {
			methods = append(methods, operations[i].method)
		}
	}
	return strings.Join(methods, ", ")
}

// fail answers a request that ran into a defect.
func (c *call) fail(defect any) {
	c.handler.cfg.Logger.Error("storage queue request panicked",
		"requestId", c.id, "err", fmt.Sprint(defect), "stack", string(debug.Stack()))
	if c.status == 0 {
		c.refuse(wire.InternalError)
	}
}

// preflight answers a browser that asks whether a page may send a request.
func (c *call) preflight() error {
	origin := c.r.Header.Get("Origin")
	method := c.r.Header.Get("Access-Control-Request-Method")
	headers := c.r.Header.Get("Access-Control-Request-Headers")
	switch {
	case origin == "":
		return wire.InvalidHeader.With("HeaderName", "Origin").With("MessageDetails", "A required CORS header is not present.")
	case method == "":
		return wire.InvalidHeader.With("HeaderName", "Access-Control-Request-Method").
			With("MessageDetails", "A required CORS header is not present.")
	}
	rules := c.handler.store.Properties(c.target.account).CORS
	for i := range rules {
		rule := &rules[i]
		if !admits(rule, origin, method) || !headersListed(rule, headers) {
			continue
		}
		header := c.w.Header()
		allowOrigin(header, rule, origin)
		header.Del("Access-Control-Expose-Headers")
		header.Set("Access-Control-Allow-Methods", method)
		if headers != "" {
			header.Set("Access-Control-Allow-Headers", headers)
		}
		header.Set("Access-Control-Max-Age", strconv.Itoa(rule.MaxAge))
		c.send(http.StatusOK, nil)
		return nil
	}
	return wire.CORSPreflightFailure.With("MessageDetails", "No CORS rules matches this request")
}

// matchRule returns the first rule that allows a request's origin to read the response, or nil.
func matchRule(rules []wire.Rule, r *http.Request) *wire.Rule {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return nil
	}
	if i := slices.IndexFunc(rules, func(rule wire.Rule) bool { return admits(&rule, origin, r.Method) }); i >= 0 {
		return &rules[i]
	}
	return nil
}

// admits reports whether a rule is for an origin and a method.
func admits(rule *wire.Rule, origin, method string) bool {
	return listed(rule.Origins, origin, strings.EqualFold) && listed(rule.Methods, method, strings.EqualFold)
}

// allowOrigin allows an origin to read a response, and the headers that the rule exposes.
func allowOrigin(header http.Header, rule *wire.Rule, origin string) {
	if strings.TrimSpace(rule.Origins) == "*" {
		header.Set("Access-Control-Allow-Origin", "*")
	} else {
		header.Set("Access-Control-Allow-Origin", origin)
		header.Set("Access-Control-Allow-Credentials", "true")
		header.Set("Vary", "Origin")
	}
	var exposed []string
	for name := range strings.SplitSeq(rule.ExposedHeaders, ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		prefix, wildcard := strings.CutSuffix(name, "*")
		if name != "" && !wildcard {
			exposed = append(exposed, name)
			continue
		}
		for sent := range header {
			if sent = strings.ToLower(sent); wildcard && strings.HasPrefix(sent, prefix) {
				exposed = append(exposed, sent)
			}
		}
	}
	if len(exposed) > 0 {
		slices.Sort(exposed)
		header.Set("Access-Control-Expose-Headers", strings.Join(slices.Compact(exposed), ","))
	}
}

// listed reports whether a comma-separated list has a value, or a star.
func listed(list, value string, same func(a, b string) bool) bool {
	for entry := range strings.SplitSeq(list, ",") {
		if entry = strings.TrimSpace(entry); entry == "*" || same(entry, value) {
			return true
		}
	}
	return false
}

// headersListed reports whether a rule allows all headers of a list.
func headersListed(rule *wire.Rule, headers string) bool {
	for header := range strings.SplitSeq(headers, ",") {
		header = strings.ToLower(strings.TrimSpace(header))
		if header != "" && !listed(rule.AllowedHeaders, header, matches) {
			return false
		}
	}
	return true
}

// matches compares a name with an entry that may end in a star.
func matches(entry, name string) bool {
	prefix, wildcard := strings.CutSuffix(strings.ToLower(entry), "*")
	return prefix == name || wildcard && strings.HasPrefix(name, prefix)
}
