package storagequeue

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/wire"
)

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
	for i := range rules {
		if admits(&rules[i], origin, r.Method) {
			return &rules[i]
		}
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
