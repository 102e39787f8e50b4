package rest

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// linkTo returns the URL of the request with changed parameters. nil removes a parameter.
func linkTo(r *http.Request, changes map[string]any) string {
	q := r.URL.Query()
	for name, value := range changes {
		q.Del(name)
		if value != nil {
			q.Set(name, fmt.Sprint(value))
		}
	}
	return here(r, (&url.URL{Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: q.Encode()}).String())
}

// here returns the URL of a path from the client's perspective. A proxy that terminates TLS sets X-Forwarded-Proto; a
// client that forges it misleads only itself.
func here(r *http.Request, path string) string {
	scheme := "http"
	outside, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Proto"), ",")
	if r.TLS != nil || strings.EqualFold(strings.TrimSpace(outside), "https") {
		scheme = "https"
	}
	return scheme + "://" + r.Host + path
}
