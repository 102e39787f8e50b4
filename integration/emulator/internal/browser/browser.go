// Package browser tells apart what pages of the web send through the browser of
// a visitor, who can reach this machine while they cannot.
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

// Local reports whether the page that has sent a request is one of this machine,
// such as that of a development server.
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

// Guard refuses with 421 what is sent to other names than those that are allowed
// (nil allows all), as by a page whose name leads here (DNS rebinding), and with
// 403 what pages of other machines send and could change something.
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

// changes reports whether a request may change something. One for a web socket
// may, whatever its method.
func changes(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return r.Header.Get("Upgrade") != ""
	}
	return true
}
