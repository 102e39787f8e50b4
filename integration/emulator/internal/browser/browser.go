// Package browser detects requests that web pages send through a visitor's browser, which can reach this machine
// while the pages themselves cannot.
package browser

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Foreign reports whether a page of another origin has sent a request. Browsers
// say so by Origin or, where that is left out, by Sec-Fetch-Site (Fetch Metadata
// Request Headers, section 2.3); programs say neither.
func Foreign(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		site := r.Header.Get("Sec-Fetch-Site")
		return site == "cross-site" || site == "same-site"
	}
	u, err := url.Parse(origin)
	return err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host)
}

// Local reports whether the page that sent a request is from this machine, such as a development server's.
func Local(r *http.Request) bool {
	u, err := url.Parse(r.Header.Get("Origin"))
	if err != nil {
		return false
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().IsLoopback()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// Guard refuses requests for host names that allowHost rejects (nil allows all) with 421, to stop DNS rebinding.
// It refuses requests of other machines' pages that could change something with 403.
func Guard(allowHost func(host string) bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case allowHost != nil && !allowHost(r.Host):
			http.Error(w, "this name is not one of this server; start it with --allowed-host if it is", http.StatusMisdirectedRequest)
		case changes(r) && Foreign(r) && !Local(r):
			http.Error(w, "a page of another origin may not do this", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// changes reports whether a request may change something. A WebSocket request may, whatever its method.
func changes(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return r.Header.Get("Upgrade") != ""
	}
	return true
}
