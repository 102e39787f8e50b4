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

// check validates the flags. It refuses numbers that other packages would replace by a default, or reject only
// after the connection to NATS. It reports all mistakes together.
func (c serveCmd) check() error {
	_, proxy := readProxy(c.Proxy)
	_, delivery := c.delivery()
	problems := []error{
		listen.CheckAddress("http", c.HTTP), listen.CheckHosts(c.Hosts), checkURLs(c.URL), checkPrefix(c.Prefix), proxy, delivery,
		checkLeast("http-connections", c.Connections, 0),
		checkLeast("min-retry-interval", c.MinRetryTime, time.Second),
		checkLeast("nats-wait", c.Wait, 0),
		checkMost("lanes", c.Lanes, conn.MaxLanes), checkMost("replicas", c.Replicas, conn.MaxReplicas),
		c.historyFlags.check(),
		checkLeast("final-age", c.FinalAge, time.Hour), checkLeast("result-age", c.ResultAge, time.Second),
		checkLeast("audit-age", c.AuditAge, time.Hour),
		checkLeast("concurrency", c.Concurrency, 1), checkLeast("per-target", c.PerTarget, 0),
		checkHold(c.HoldMemory), checkLeast("grace", c.Grace, time.Millisecond),
	}
	problems = append(problems, c.checkFiles(), c.checkAccess(), c.checkMetrics())
	for _, subject := range c.NATSSubject {
		problems = append(problems, checkSubject("nats-subject", subject))
	}
	return errors.Join(problems...)
}

// checkMetrics makes sure that the value of --metrics, if it has one, is an address.
func (c serveCmd) checkMetrics() error {
	if c.Metrics == "" {
		return nil
	}
	return listen.CheckAddress("metrics", c.Metrics)
}

// checkFiles validates the content of a connection's files.
func (f natsConn) checkFiles() error {
	_, err := f.files().Config(certificates.Client{CA: "nats-ca", Cert: "nats-cert", Key: "nats-key"})
	return err
}

// checkHold makes sure that --hold-memory has room for work.
func checkHold(b byteSize) error {
	if b < leastHold {
		return terminal.Usagef("--hold-memory: %s is less than %s", b, byteSize(leastHold))
	}
	return nil
}

// checkLeast makes sure that the value of a flag is not too small.
func checkLeast[N cmp.Ordered](flag string, n, least N) error {
	if n < least {
		return terminal.Usagef("--%s: %v is less than %v", flag, n, least)
	}
	return nil
}

// checkMost makes sure that the value of a flag is neither negative nor too large.
func checkMost(flag string, n, most int) error {
	if n < 0 || n > most {
		return terminal.Usagef("--%s: %d is not in 0-%d", flag, n, most)
	}
	return nil
}

// checkPrefix makes sure that the value of --prefix can begin subjects.
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

// byteSize is a flag's number of bytes: 160MiB, 200MB or 200000000.
type byteSize int64

// byteUnits are the units of a byteSize.
var byteUnits = []struct {
	suffix string
	bytes  float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1},
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
	for _, u := range []struct {
		shift  int
		suffix string
	}{{30, "GiB"}, {20, "MiB"}, {10, "KiB"}} {
		if b != 0 && b%(1<<u.shift) == 0 {
			return strconv.FormatInt(int64(b)>>u.shift, 10) + u.suffix
		}
	}
	return strconv.FormatInt(int64(b), 10) + "B"
}

// orNone is the size as a setting has it whose zero value is its default: 0 is none.
func (b byteSize) orNone() int64 {
	if b == 0 {
		return -1
	}
	return int64(b)
}

// leastHold is the smallest --hold-memory: room for a thousand jobs or so, so that
// more than one batch of them can be under way.
const leastHold = 8 << 20

// accessFlags configure access to the REST API.
type accessFlags struct {
	Auth        bool     `name:"auth" help:"Ask for a token on a loopback address too, before the first one is made." env:"CARILLON_AUTH" live:""`
	Open        bool     `name:"open" help:"Ask nobody, whatever the address: whoever reaches it may do everything." env:"CARILLON_OPEN" live:""`
	Issuer      string   `name:"oidc-issuer" help:"Take the tokens of this OpenID Connect issuer: its URL, as they have it in iss." env:"CARILLON_OIDC_ISSUER" placeholder:"URL"`
	Audience    string   `name:"oidc-audience" help:"What its tokens for this scheduler have in aud." env:"CARILLON_OIDC_AUDIENCE" placeholder:"NAME"`
	OIDCRoles   []string `name:"oidc-roles" help:"What claims give: CLAIM:VALUE=ROLE, or …=ROLE@COLLECTION. Several with commas, or repeated; they add up. VALUE * is any." env:"CARILLON_OIDC_ROLES" placeholder:"RULE" live:""`
	TLSCert     string   `name:"tls-cert" help:"Serve the REST API over TLS, with this certificate and what leads to its authority, as PEM." env:"CARILLON_TLS_CERT" placeholder:"FILE"`
	TLSKey      string   `name:"tls-key" help:"Key of that certificate, as PEM." env:"CARILLON_TLS_KEY" placeholder:"FILE"`
	TLSClientCA string   `name:"tls-client-ca" help:"Take client certificates of these authorities, as PEM." env:"CARILLON_TLS_CLIENT_CA" placeholder:"FILE"`
	TLSRoles    []string `name:"tls-roles" help:"What names in client certificates give: cn:NAME=ROLE, or ou, o, dns, email, uri. Several with commas, or repeated." env:"CARILLON_TLS_ROLES" placeholder:"RULE" live:""`
	Rate        float64  `name:"http-rate" help:"How many requests a second each token may send or, where nobody is asked, each address; and five times as many at once. 0: any number." env:"CARILLON_HTTP_RATE" default:"2000" placeholder:"N" live:""`
}

// burst is how many seconds' worth of requests can arrive together.
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
	wrong(f.Open && (f.Issuer != "" || f.TLSClientCA != ""), "--open excludes --oidc-issuer and --tls-client-ca: nobody would be asked")
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
			return nil, terminal.Usagef("--tls-roles: %q is no kind of name in a certificate; there are %s",
				r.Attribute, strings.Join(who.Kinds(), ", "))
		}
	}
	return all, err
}

// admission controls who can use the API, and how clients reach it.
type admission struct {
	flags    accessFlags // of the start
	addr     string
	loopback bool                 // the address is one
	local    bool                 // and only programs of this machine are let in
	tls      *certificates.Keeper // nil: without TLS
	issuer   *issuer.Issuer       // nil: none
	rate     *throttle.Throttle
}

// admit reads the certificates, and configures in cfg who can use the API on an address. If hosts are set, a
// proxy forwards other clients to this process.
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

// take makes the live ones among the flags count, and returns whom the API asks then, and knows.
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

// readAgain has the certificates looked at now.
func (a *admission) readAgain() {
	if a.tls != nil {
		a.tls.Now()
	}
}

// run keeps the certificates up to date until ctx is done.
func (a *admission) run(ctx context.Context) {
	if a.tls != nil {
		a.tls.Run(ctx)
	}
}

// scheme begins the address of the API.
func (a *admission) scheme() string {
	if a.tls != nil {
		return "https://"
	}
	return "http://"
}

// tell logs who can use the API if that may be unexpected.
func (a *admission) tell(ctx context.Context, n *node.Node, addr net.Addr, log *slog.Logger) error {
	open, err := n.Open(ctx)
	if err != nil {
		return fmt.Errorf("the access tokens cannot be read: %w", err)
	}
	switch {
	case open && a.local:
		log.Info("the API is open to every program of this machine; the first token closes it", "http", addr.String(),
			"hint", "carillon token create --role admin, or --auth")
	case open:
		log.Warn("other machines may reach the API, which asks for no token", "http", addr.String())
	case a.flags.Issuer == "" && a.flags.TLSClientCA == "" && !n.HasTokens(ctx):
		log.Warn("nobody can use the API yet: it asks for a token, and there is none", "http", addr.String(),
			"hint", "carillon token create --role admin --nats-url URL, or --open to let everybody in")
	}
	if !open && !a.loopback && a.tls == nil {
		log.Warn("tokens go over the network unencrypted; use --tls-cert and --tls-key, or a proxy that does it", "http", addr.String())
	}
	return nil
}
