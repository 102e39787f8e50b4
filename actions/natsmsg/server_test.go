package natsmsg_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/natsmsg"
	"github.com/carillon-sched/carillon/integration/testkit/freeport"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

func TestUserAndToken(t *testing.T) {
	user := run(t, func(o *server.Options) { o.Username, o.Password = "shop", "secret-word" })
	token := run(t, func(o *server.Options) { o.Authorization = "secret-token" })
	c := client(t, natsmsg.Config{})
	tests := map[string]struct {
		url, more string
		want      outcome
	}{
		"user":           {user.ClientURL(), `, "user": "shop", "password": "secret-word"`, outcome{status: 202}},
		"wrong password": {user.ClientURL(), `, "user": "shop", "password": "other"`, outcome{401, true, true, "the server refuses the credentials"}},
		"nobody":         {user.ClientURL(), ``, outcome{401, true, true, "the server refuses the credentials"}},
		"token":          {token.ClientURL(), `, "token": "secret-token"`, outcome{status: 202}},
		"wrong token":    {token.ClientURL(), `, "token": "other-token"`, outcome{401, true, true, "refuses"}},
		"shared":         {token.ClientURL(), `, "token": {"secretRef": "nats"}`, outcome{status: 202}},
		"second server":  {"nats://127.0.0.1:1," + token.ClientURL(), `, "token": "secret-token"`, outcome{status: 202}},
		"no TLS":         {strings.Replace(token.ClientURL(), "nats", "tls", 1), `, "token": "secret-token"`, outcome{0, true, false, "secure connection"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a := attempt()
			a.Shared = func(name string) (string, error) {
				if name == "nats" {
					return "secret-token", nil
				}
				return "", errors.New("not found")
			}
			got := invoke(t, c, a, `{"subject": "carillon.x", "servers": "`+test.url+`"`+test.more+`}`)
			check(t, got, test.want)
			if test.want.failed && !strings.Contains(got.Message, " on "+strings.Split(test.url, ",")[0]) {
				t.Errorf("the message does not name the server: %s", got.Message)
			}
		})
	}
}

// TestOwnServerByAddress: on the scheduler's NATS server, a job that names it in servers can do no more than on the scheduler's
// connection, unless the server knows its user.
func TestOwnServerByAddress(t *testing.T) {
	open := run(t)
	closed := run(t, func(o *server.Options) {
		o.Users = []*server.User{{Username: "carillon", Password: "x"}, {Username: "job", Password: "x"}}
	})
	anyone := run(t, func(o *server.Options) {
		o.Users = []*server.User{{Username: "carillon", Password: "x"}, {Username: "job", Password: "x"}}
		o.NoAuthUser = "job"
	})
	const refused, user = "which do not know who the job is", `, "user": "job", "password": "x"`
	for name, test := range map[string]struct {
		server  *server.Server
		message string
		want    string // in the result, "" for a message that is published
	}{
		"the API":                  {open, `"subject": "carillon.api.delete.default.job"`, refused},
		"a spec":                   {open, `"subject": "carillon.spec.delete.default.job"`, refused},
		"with a user nobody knows": {open, `"subject": "carillon.api.delete.default.job"` + user, refused},
		"JetStream":                {open, `"subject": "$JS.API.STREAM.DELETE.CARILLON_HISTORY"`, refused},
		"an answer":                {open, `"subject": "shop.order", "replyTo": "carillon.spec.delete.default.job"`, refused},
		"not allowed":              {open, `"subject": "elsewhere.order"`, refused},
		"anything else":            {open, `"subject": "shop.order"`, ""},
		"nobody":                   {anyone, `"subject": "carillon.api.delete.default.job"`, refused},
		"a user of the server":     {closed, `"subject": "carillon.api.get.default.job"` + user, ""},
		"another server":           {run(t), `"subject": "carillon.api.get.default.job"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			at := test.server
			if name == "another server" {
				at = open
			}
			c := client(t, natsmsg.Config{Conn: connect(t, at, nats.UserInfo("carillon", "x")), Allow: []string{"shop.>"}})
			got := invoke(t, c, attempt(), `{`+test.message+`, "servers": "`+test.server.ClientURL()+`"}`)
			if got.Failed != (test.want != "") || got.Final != got.Failed || !strings.Contains(got.Message, test.want) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// A server in operator mode takes the text of a credentials file.
func TestCredentials(t *testing.T) {
	operator, account, user := pair(t, nkeys.CreateOperator), pair(t, nkeys.CreateAccount), pair(t, nkeys.CreateUser)
	trusted := jwt.NewOperatorClaims(public(t, operator))
	claims := jwt.NewAccountClaims(public(t, account))
	accountJWT := must.Get(claims.Encode(operator))(t)
	resolver := &server.MemAccResolver{}
	must.Do(t, resolver.Store(public(t, account), accountJWT))
	s := run(t, func(o *server.Options) {
		o.JetStream = false
		o.TrustedOperators, o.AccountResolver = []*jwt.OperatorClaims{trusted}, resolver
	})
	credentials := func(signer nkeys.KeyPair) string {
		userJWT := must.Get(jwt.NewUserClaims(public(t, user)).Encode(signer))(t)
		seed := must.Get(user.Seed())(t)
		text := must.Get(jwt.FormatUserConfig(userJWT, seed))(t)
		return fmt.Sprintf("%q", text)
	}
	c := client(t, natsmsg.Config{})
	body := `{"subject": "x", "servers": ["` + s.ClientURL() + `"], "credentials": `
	check(t, invoke(t, c, attempt(), body+credentials(account)+`}`), outcome{status: 202})
	check(t, invoke(t, c, attempt(), body+credentials(pair(t, nkeys.CreateAccount))+`}`), outcome{401, true, true, "refuses"})
	check(t, invoke(t, c, attempt(), body+`"BEGIN NATS USER JWT BEGIN USER NKEY SEED"}`), outcome{401, true, true, "the credentials file cannot be used: "})
}

func pair(t *testing.T, create func() (nkeys.KeyPair, error)) nkeys.KeyPair {
	t.Helper()
	return must.Get(create())(t)
}

func public(t *testing.T, kp nkeys.KeyPair) string {
	t.Helper()
	return must.Get(kp.PublicKey())(t)
}

// TLS is spoken when the URL or the server asks for it, and the certificate is
// checked either way.
func TestTLS(t *testing.T) {
	cert, roots := actiontest.Certificate(t, "127.0.0.1")
	s := run(t, func(o *server.Options) {
		o.TLSConfig = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
		o.Websocket = server.WebsocketOpts{Host: "127.0.0.1", Port: -1, TLSConfig: o.TLSConfig}
	})
	_, port, _ := net.SplitHostPort(s.Addr().String())
	ws := s.WebsocketURL()
	trusting, other := client(t, natsmsg.Config{RootCAs: roots}), client(t, natsmsg.Config{})
	for _, url := range []string{"tls://127.0.0.1:" + port, "nats://127.0.0.1:" + port, ws} {
		body := `{"subject": "x", "servers": "` + url + `"}`
		check(t, invoke(t, trusting, attempt(), body), outcome{status: 202})
		check(t, invoke(t, other, attempt(), body), outcome{0, true, false, "certificate signed by unknown authority"})
	}
}

// clients waits until a server has so many clients.
func clients(t *testing.T, s *server.Server, want int) {
	t.Helper()
	must.Await(t, fmt.Sprint(want, " clients"), func() bool { return s.NumClients() == want })
}

// TestPool has attempts that wait for a connection, and do not blame the server for it. The client closes its connections
// in the end, and those that are idle.
func TestPool(t *testing.T) {
	a, b := run(t), run(t)
	body := func(s *server.Server) string { return `{"subject": "x", "servers": "` + s.ClientURL() + `"}` }
	c := client(t, natsmsg.Config{MaxConns: 1})
	held := subscribe(t, connect(t, b), "slow")
	done := make(chan struct{})
	go func() {
		defer close(done)
		got := invoke(t, c, attempt(), `{"mode": "request", "subject": "slow", "servers": "`+b.ClientURL()+`"}`)
		check(t, got, outcome{status: 200})
	}()
	m := next(t, held)
	short := attempt()
	short.Timeout = 50 * time.Millisecond
	got := invoke(t, c, short, body(a))
	check(t, got, outcome{0, true, false, "timed out after 50ms while all connections to jobs' own servers were in use"})
	if !got.SkipCircuit {
		t.Error("the server is blamed for what this process does elsewhere")
	}
	var waiting sync.WaitGroup
	for range 5 {
		waiting.Go(func() { check(t, invoke(t, c, attempt(), body(a)), outcome{status: 202}) })
	}
	if err := m.Respond(nil); err != nil {
		t.Error(err)
	}
	waiting.Wait()
	<-done
	c.Close()
	clients(t, b, 1) // that of this test
	check(t, invoke(t, c, attempt(), body(a)), outcome{0, true, false, "the scheduler is stopping"})

	brief := client(t, natsmsg.Config{IdleTimeout: time.Millisecond})
	check(t, invoke(t, brief, attempt(), body(a)), outcome{status: 202})
	clients(t, a, 0)
}

// TestCloseEndsAttempts closes the client while a server does not answer a request, and another does not greet.
func TestCloseEndsAttempts(t *testing.T) {
	s := run(t)
	asked := subscribe(t, connect(t, s), "slow")
	dialed := make(chan struct{})
	silent := actiontest.Listen(t, func(conn net.Conn) {
		close(dialed)
		_, _ = conn.Read(make([]byte, 1)) // until the client closes
	})
	c := client(t, natsmsg.Config{})
	var group sync.WaitGroup
	for _, body := range []string{`"mode": "request", "subject": "slow", "servers": "` + s.ClientURL() + `"`, `"subject": "x", "servers": "nats://` + silent + `"`} {
		group.Go(func() { check(t, invoke(t, c, attempt(), `{`+body+`}`), outcome{0, true, false, "failed: "}) })
	}
	next(t, asked)
	<-dialed
	begun := time.Now()
	c.Close()
	group.Wait()
	if took := time.Since(begun); took > 3*time.Second { // less than handshakeTimeout
		t.Errorf("closed after %v", took)
	}
}

// Servers are tried in the job's order.
func TestOrder(t *testing.T) {
	first, second := run(t), run(t)
	for range 10 {
		c := client(t, natsmsg.Config{})
		check(t, invoke(t, c, attempt(), `{"subject": "x", "servers": ["`+first.ClientURL()+`", "`+second.ClientURL()+`"]}`), outcome{status: 202})
		if n := second.NumClients(); n != 0 {
			t.Fatalf("the second server has %d clients", n)
		}
		c.Close()
	}
}

// A connection that broke is replaced by the next attempt.
func TestReconnect(t *testing.T) {
	port := freeport.Pick(t)
	atPort := func(opts *server.Options) { opts.Port = port }
	s := run(t, atPort)
	c := client(t, natsmsg.Config{})
	body := `{"subject": "x", "servers": "` + s.ClientURL() + `"}`
	check(t, invoke(t, c, attempt(), body), outcome{status: 202})
	s.Shutdown()
	s.WaitForShutdown()
	check(t, invoke(t, c, attempt(), body), outcome{0, true, false, "failed: "})
	run(t, atPort)
	check(t, invoke(t, c, attempt(), body), outcome{status: 202})
}
