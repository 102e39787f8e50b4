package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/certificates"
	"github.com/carillon-sched/carillon/cmd/carillon/listen"
	"github.com/carillon-sched/carillon/cmd/carillon/node"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/auth/issuer"
	who "github.com/carillon-sched/carillon/scheduler/rest/identity"
	"github.com/carillon-sched/carillon/scheduler/throttle"
	"github.com/carillon-sched/carillon/store/conn"
)

// check validates the flags and reports all problems together. It rejects numbers that other packages would replace with a
// default, or reject only after the connection to NATS.
func (c serveCmd) check() error {
	_, proxy := readProxy(c.Proxy)
	_, delivery := c.delivery()
	problems := []error{
		listen.CheckAddress("http", c.HTTP), listen.CheckHosts(c.Hosts), checkURLs(c.URL), checkPrefix(c.Prefix), proxy, delivery,
		checkLeast("http-connections", c.Connections, 0),
		checkLeast("min-retry-interval", c.MinRetryTime, time.Second),
		checkLeast("nats-wait", c.Wait, 0),
		checkMost("lanes", c.Lanes, conn.MaxLanes), checkMost("replicas", c.Replicas, conn.MaxReplicas),
		c.historyFlags.check(), c.eventFlags.check(), c.consoleFlags.check(),
		checkLeast("final-age", c.FinalAge, time.Hour), checkLeast("result-age", c.ResultAge, time.Second),
		checkLeast("audit-age", c.AuditAge, time.Hour),
		checkLeast("concurrency", c.Concurrency, 1), checkLeast("per-target", c.PerTarget, 0),
		checkLeast("hold-memory", c.HoldMemory, leastHold), checkLeast("grace", c.Grace, time.Millisecond),
	}
	problems = append(problems, c.checkFiles(), c.checkAccess(), c.checkMetrics())
	for _, subject := range c.NATSSubject {
		problems = append(problems, checkSubject("nats-subject", subject))
	}
	for _, subject := range c.NATSSource {
		problems = append(problems, checkSubject("nats-source-subject", subject))
	}
	return errors.Join(problems...)
}

// checkMetrics checks that --metrics, if set, is an address.
func (c serveCmd) checkMetrics() error {
	if c.Metrics == "" {
		return nil
	}
	return listen.CheckAddress("metrics", c.Metrics)
}

// checkFiles validates the files of a NATS connection.
func (f natsConn) checkFiles() error {
	_, err := f.files().Config(certificates.Client{CA: "nats-ca", Cert: "nats-cert", Key: "nats-key"})
	return err
}

// checkLeast checks the minimum of a flag.
func checkLeast[N cmp.Ordered](flag string, n, least N) error {
	if n < least {
		return terminal.Usagef("--%s: %v is less than %v", flag, n, least)
	}
	return nil
}

// checkMost checks that a flag is between 0 and most.
func checkMost(flag string, n, most int) error {
	if n < 0 || n > most {
		return terminal.Usagef("--%s: %d is not in 0-%d", flag, n, most)
	}
	return nil
}

// checkPrefix checks that --prefix can begin subjects.
func checkPrefix(prefix string) error {
	if wrong := conn.CheckPrefix(cmp.Or(prefix, conn.DefaultPrefix)); wrong != "" {
		return terminal.Usagef("--prefix: %s", wrong)
	}
	return nil
}

// checkSubject checks that a flag is a NATS subject, with or without wildcards: an invalid one would match
// nothing.
func checkSubject(flag, subject string) error {
	tokens := strings.Split(subject, ".")
	for i, token := range tokens {
		wrong := token == "" || strings.ContainsAny(token, " \t\r\n") ||
			len(token) > 1 && strings.ContainsAny(token, "*>") || token == ">" && i < len(tokens)-1
		if wrong {
			return terminal.Usagef("--%s: %q is not a subject such as orders.new, orders.* or orders.>", flag, subject)
		}
	}
	return nil
}

// byteSize is a flag with a number of bytes: 160MiB, 200MB or 200000000.
type byteSize int64

// byteUnits are the units of a byteSize. Its text uses the first three.
var byteUnits = []struct {
	suffix string
	bytes  float64
}{
	{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1},
}

// UnmarshalText reads a flag's value.
func (b *byteSize) UnmarshalText(text []byte) error {
	number, unit := string(text), 0.0
	for _, u := range byteUnits {
		if n, ok := strings.CutSuffix(number, u.suffix); ok {
			number, unit = strings.TrimSpace(n), u.bytes
			break
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(n) || n < 0 || n*unit > 1<<50 {
		return fmt.Errorf("%q is not a size such as 160MiB, 200MB or 200000000", text)
	}
	*b = byteSize(n * unit)
	return nil
}

// String writes the size as UnmarshalText reads it.
func (b byteSize) String() string {
	for _, u := range byteUnits[:3] {
		if unit := byteSize(u.bytes); b != 0 && b%unit == 0 {
			return strconv.FormatInt(int64(b/unit), 10) + u.suffix
		}
	}
	return strconv.FormatInt(int64(b), 10) + "B"
}

// orNone converts the size for a Config field whose zero value means the default: 0 becomes none.
func (b byteSize) orNone() int64 {
	if b == 0 {
		return -1
	}
	return int64(b)
}

// leastHold is the minimum of --hold-memory. It fits about a thousand jobs, so that more than one batch can be active.
const leastHold = 8 << 20

// accessFlags configure access to the REST API.
type accessFlags struct {
	Auth        bool     `name:"auth" help:"Require a token on a loopback address even before the first one exists." env:"CARILLON_AUTH" live:""`
	Open        bool     `name:"open" help:"Disable authentication: anyone who can reach the address has full access." env:"CARILLON_OPEN" live:""`
	Issuer      string   `name:"oidc-issuer" help:"Accept tokens of this OpenID Connect issuer, the URL in their claim iss." env:"CARILLON_OIDC_ISSUER" placeholder:"URL"`
	Audience    string   `name:"oidc-audience" help:"Required audience of these tokens (claim aud)." env:"CARILLON_OIDC_AUDIENCE" placeholder:"NAME"`
	OIDCRoles   []string `name:"oidc-roles" help:"Map claims to roles: CLAIM:VALUE=ROLE, or CLAIM:VALUE=ROLE@COLLECTION. VALUE * matches any. Roles add up. Separate with commas, or repeat." env:"CARILLON_OIDC_ROLES" placeholder:"RULE" live:""`
	TLSCert     string   `name:"tls-cert" help:"Serve TLS with this certificate chain (PEM)." env:"CARILLON_TLS_CERT" placeholder:"FILE"`
	TLSKey      string   `name:"tls-key" help:"Key of --tls-cert (PEM)." env:"CARILLON_TLS_KEY" placeholder:"FILE"`
	TLSClientCA string   `name:"tls-client-ca" help:"Accept client certificates of these authorities (PEM)." env:"CARILLON_TLS_CLIENT_CA" placeholder:"FILE"`
	TLSRoles    []string `name:"tls-roles" help:"Map names in client certificates to roles: cn:NAME=ROLE; also ou, o, dns, email and uri. Separate with commas, or repeat." env:"CARILLON_TLS_ROLES" placeholder:"RULE" live:""`
	Rate        float64  `name:"http-rate" help:"Requests per second for each token, or for each address if access is open, with bursts of five times as many. 0: unlimited." env:"CARILLON_HTTP_RATE" default:"2000" placeholder:"N" live:""`
}

// burst is the burst size in seconds of the rate.
const burst = 5

// checkAccess validates the flags and their combination.
func (f accessFlags) checkAccess() error {
	problems := []error{checkLeast("http-rate", f.Rate, 0)}
	wrong := func(is bool, format string, args ...any) {
		if is {
			problems = append(problems, terminal.Usagef(format, args...))
		}
	}
	wrong(f.Auth && f.Open, "--auth and --open exclude each other")
	wrong(f.Open && (f.Issuer != "" || f.TLSClientCA != ""), "--open excludes --oidc-issuer and --tls-client-ca")
	wrong((f.Issuer == "") != (f.Audience == "") || (f.Issuer == "") != (len(f.OIDCRoles) == 0),
		"--oidc-issuer, --oidc-audience and --oidc-roles go together")
	wrong((f.TLSCert == "") != (f.TLSKey == ""), "--tls-cert and --tls-key go together")
	wrong((f.TLSClientCA == "") != (len(f.TLSRoles) == 0), "--tls-client-ca and --tls-roles go together")
	wrong(f.TLSClientCA != "" && f.TLSCert == "", "--tls-client-ca needs --tls-cert and --tls-key")
	if f.Issuer != "" {
		if err := issuer.Check(f.Issuer); err != nil {
			wrong(true, "--oidc-issuer: %v", err)
		}
	}
	_, err := rules("oidc-roles", f.OIDCRoles)
	_, err2 := f.certificateRules()
	return errors.Join(append(problems, err, err2)...)
}

// rules parses the access rules of a flag.
func rules(flag string, texts []string) ([]auth.Rule, error) {
	var all []auth.Rule
	for _, text := range texts {
		r, err := auth.ParseRule(text)
		if err != nil {
			return nil, terminal.Usagef("--%s: %v", flag, err)
		}
		all = append(all, r)
	}
	return all, nil
}

func (f accessFlags) certificateRules() ([]auth.Rule, error) {
	all, err := rules("tls-roles", f.TLSRoles)
	for _, r := range all {
		if !slices.Contains(who.Kinds(), r.Attribute) {
			return nil, terminal.Usagef("--tls-roles: %q is not a kind of name in a certificate; use one of %s",
				r.Attribute, strings.Join(who.Kinds(), ", "))
		}
	}
	return all, err
}

// admission controls access to the API: TLS, authentication and rate limits.
type admission struct {
	flags    accessFlags // at startup
	addr     string
	loopback bool                 // the listener has a loopback address
	local    bool                 // only programs on this machine have access
	tls      *certificates.Keeper // nil: without TLS
	issuer   *issuer.Issuer       // nil: no OIDC
	rate     *throttle.Throttle
}

// admit reads the certificates and configures the access to an address in cfg. If hosts are set, a proxy forwards requests
// of other machines to this process.
func (f accessFlags) admit(ctx context.Context, addr string, hosts []string, cfg *node.Config, log *slog.Logger) (*admission, error) {
	a := &admission{flags: f, addr: addr, loopback: len(listen.Exposed(ctx, listen.Flag{Name: "http", Addr: addr})) == 0}
	a.rate = throttle.New(f.Rate, int(f.Rate*burst))
	cfg.Rate = a.rate
	var err error
	if f.TLSCert != "" {
		a.tls, err = certificates.Open(certificates.Files{Cert: f.TLSCert, Key: f.TLSKey, ClientCA: f.TLSClientCA}, certificates.Every, log)
		if err != nil {
			return nil, err
		}
		cfg.TLS = a.tls.Config()
	}
	if f.Issuer != "" {
		a.issuer, err = issuer.New(issuer.Config{URL: f.Issuer, Audience: f.Audience})
		if err != nil {
			return nil, err
		}
	}
	cfg.Access, err = a.take(f, hosts)
	a.local = cfg.Access.Local
	return a, err
}

// take applies the live flags and returns the new authentication.
func (a *admission) take(f accessFlags, hosts []string) (who.Config, error) {
	cfg := who.Config{Local: a.loopback && len(hosts) == 0}
	switch {
	case f.Open:
	case f.Auth, !cfg.Local:
		cfg.Demand = who.Always
	default:
		cfg.Demand = who.OnceThereAre
	}
	var err, err2 error
	if a.flags.TLSClientCA != "" {
		cfg.Trusted = a.tls.Trusted
		cfg.Certificates, err = f.certificateRules()
	}
	if a.issuer != nil {
		var r []auth.Rule
		r, err2 = rules("oidc-roles", f.OIDCRoles)
		a.issuer.SetRules(r)
		cfg.Issuer = a.issuer
	}
	a.rate.Set(f.Rate, int(f.Rate*burst))
	return cfg, errors.Join(err, err2)
}

// scheme returns the scheme of the API's URL.
func (a *admission) scheme() string {
	if a.tls != nil {
		return "https://"
	}
	return "http://"
}

// warn logs who can use the API if that may be unexpected.
func (a *admission) warn(ctx context.Context, n *node.Node, addr net.Addr, log *slog.Logger) error {
	open, err := n.Open(ctx)
	if err != nil {
		return fmt.Errorf("read access tokens: %w", err)
	}
	switch {
	case open && a.local:
		log.Info("all programs on this machine have full access to the API until the first token exists", "http", addr.String(),
			"hint", "carillon token create --role admin, or --auth")
	case open:
		log.Warn("the API requires no token and may be reachable from other machines", "http", addr.String())
	case a.flags.Issuer == "" && a.flags.TLSClientCA == "" && !n.HasTokens(ctx):
		log.Warn("the API requires a token, but no token exists", "http", addr.String(),
			"hint", "create one with \"carillon token create --role admin --nats-url URL\", or disable authentication with --open")
	}
	if !open && !a.loopback && a.tls == nil {
		log.Warn("clients send tokens unencrypted; use --tls-cert and --tls-key, or a TLS proxy", "http", addr.String())
	}
	return nil
}
