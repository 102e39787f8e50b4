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

// RESTConfig configures a client of the REST API. URL is required.
type RESTConfig struct {
	// URL is the address, such as http://127.0.0.1:8080, optionally with the path of a proxy.
	URL string

	// Token is sent with each request as Authorization: Bearer. The client follows no redirect to another server, which
	// would receive the token. Default: none.
	Token string

	// TLS configures https: trusted authorities and the client certificate. Default: the system's authorities, no
	// client certificate.
	TLS *tls.Config

	// Transport sends the requests; TLS is then ignored. Set it in tests or to reuse a transport. Default: a separate
	// transport for this client.
	Transport http.RoundTripper
}

// NewREST returns a client of a REST API. It does no I/O. It returns [scheduler.ErrInvalid] for an invalid URL.
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

// transport returns a transport with a timeout for the start of an answer; 0: none.
func (cfg RESTConfig) transport(timeout time.Duration) *http.Transport {
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dial, TLSClientConfig: cfg.TLS.Clone(),
		ResponseHeaderTimeout: timeout, MaxIdleConnsPerHost: 16,
	}
}

// sameServer refuses redirects to another server, scheme or port.
func sameServer(to *http.Request, via []*http.Request) error {
	if from := via[0].URL; to.URL.Scheme != from.Scheme || to.URL.Host != from.Host || len(via) >= maxRedirects {
		return http.ErrUseLastResponse
	}
	return nil
}
