package client

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// RESTConfig says where a scheduler's REST API is. URL is required.
type RESTConfig struct {
	// URL is the address, such as http://127.0.0.1:8080, or that of a path below
	// which a proxy has it.
	URL string

	// Token is sent with every request, as Authorization: Bearer. It is for this
	// server alone: an answer that leads elsewhere is not followed. Default: none.
	Token string

	// TLS is how https is spoken: with which authorities, and with which
	// certificate of the client. Default: as the system says, without one.
	TLS *tls.Config

	// Transport carries the requests. It is for tests, and for programs that have
	// one of their own; TLS is not looked at then. Default: one for this client.
	Transport http.RoundTripper
}

// NewREST returns a client of a REST API. It does no I/O.
// [scheduler.ErrInvalid] when the URL is none.
func NewREST(cfg RESTConfig) (*Client, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, scheduler.Invalid("server", fmt.Sprintf("%q is not a URL such as http://127.0.0.1:8080", cfg.URL))
	}
	base := strings.TrimRight(cfg.URL, "/")
	c := &Client{server: base, base: base, http: &http.Client{Transport: cfg.Transport}}
	c.lasting = func() (http.RoundTripper, func()) { return cfg.Transport, func() {} }
	if cfg.Transport == nil {
		c.http.Transport = cfg.transport(answerTimeout)
		c.lasting = func() (http.RoundTripper, func()) {
			t := cfg.transport(0)
			return t, t.CloseIdleConnections
		}
	}
	if c.token = cfg.Token; c.token != "" {
		c.http.CheckRedirect = sameServer
	}
	return c, nil
}

// transport makes one that waits so long until an answer begins; 0: without end.
func (cfg RESTConfig) transport(timeout time.Duration) *http.Transport {
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dial, TLSClientConfig: cfg.TLS.Clone(),
		ResponseHeaderTimeout: timeout, MaxIdleConnsPerHost: 16,
	}
}

// sameServer keeps a client from following an answer to another server, or to
// the same one by another scheme or port.
func sameServer(to *http.Request, via []*http.Request) error {
	if from := via[0].URL; to.URL.Scheme != from.Scheme || to.URL.Host != from.Host || len(via) >= maxRedirects {
		return http.ErrUseLastResponse
	}
	return nil
}
