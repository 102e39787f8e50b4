package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os/user"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/auth/tokens"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/store"
)

// tokenCmd holds the commands for access tokens.
type tokenCmd struct {
	Create tokenCreateCmd `cmd:"" help:"Create an access token."`
	List   tokenListCmd   `cmd:"" aliases:"ls" help:"List access tokens, without their values."`
	Revoke tokenRevokeCmd `cmd:"" help:"Revoke access tokens, effective immediately on all schedulers."`
}

// tokenStore selects where to manage tokens: through a scheduler, or in its store on NATS.
type tokenStore struct {
	remote.REST

	URL    string `name:"nats-url" group:"NATS connection" help:"Use the store on these NATS servers instead of a scheduler. Needs no token." placeholder:"URL"`
	Creds  string `help:"Credentials file of the NATS user." group:"NATS connection" type:"existingfile" placeholder:"FILE"`
	Prefix string `group:"NATS connection" help:"Prefix of the scheduler on NATS." env:"CARILLON_PREFIX" default:"carillon" placeholder:"NAME"`
}

// tokenAPI is implemented by the client and by the store.
type tokenAPI interface {
	CreateToken(ctx context.Context, q v1.TokenRequest) (*v1.NewToken, error)
	Tokens(ctx context.Context) ([]*v1.Token, error)
	RevokeToken(ctx context.Context, id string) (*v1.Token, error)
}

// with opens the API, calls use and closes it.
func (s tokenStore) with(ctx context.Context, t *terminal.Terminal, use func(tokenAPI) error) error {
	if s.URL == "" {
		api, err := s.Client(t)
		if err != nil {
			return err
		}
		return use(api)
	}
	flags := natsConn{URL: s.URL, Creds: s.Creds, CA: s.CA, Cert: s.Cert, Key: s.Key}
	if err := cmp.Or(checkURLs(s.URL), checkPrefix(s.Prefix), s.Check()); err != nil {
		return err
	}
	open := func(nc *nats.Conn) (*store.Store, error) {
		return store.OpenTokens(ctx, nc, store.Config{Prefix: s.Prefix})
	}
	return flags.withStore(ctx, open, func(st *store.Store) error {
		return use(keptTokens{control.NewTokenKeeper(tokens.NewKeeper(st.Tokens(), st.TokenLedger(), st.Now), st, st)})
	})
}

// operating returns a context for changes to the store: the caller is a NATS user who claims the name of the system user.
func operating(ctx context.Context) context.Context {
	ctx = auth.With(ctx, auth.Anonymous(auth.ViaNATS, ""))
	if u, err := user.Current(); err == nil {
		ctx = control.WithClaim(ctx, u.Username)
	}
	return ctx
}

// keptTokens manages tokens in the store.
type keptTokens struct{ keeper control.TokenKeeper }

// CreateToken creates a token.
func (k keptTokens) CreateToken(ctx context.Context, q v1.TokenRequest) (*v1.NewToken, error) {
	body, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	made, text, err := k.keeper.CreateToken(operating(ctx), body)
	return &v1.NewToken{Token: made, Text: text}, err
}

// Tokens returns all tokens.
func (k keptTokens) Tokens(ctx context.Context) ([]*v1.Token, error) { return k.keeper.Tokens(ctx) }

// RevokeToken revokes a token.
func (k keptTokens) RevokeToken(ctx context.Context, id string) (*v1.Token, error) {
	return k.keeper.RevokeToken(operating(ctx), id)
}

type tokenCreateCmd struct {
	tokenStore

	Role       string   `help:"Role of the token: reader, operator or admin." enum:"reader,operator,admin," default:"" placeholder:"ROLE"`
	Collection []string `short:"c" help:"Limit the role to this collection. Default: all collections. Repeatable." placeholder:"NAME"`
	Grant      []string `help:"Add a role, as ROLE or ROLE@COLLECTION. Repeatable." placeholder:"GRANT"`
	Expires    string   `help:"When the token expires: a duration such as 12h or 90d, a time, or never." default:"90d" placeholder:"TIME"`
	Name       string   `help:"Name of the token, shown in the audit log." placeholder:"NAME"`
}

// Run makes the token.
func (c tokenCreateCmd) Run(ctx context.Context, t *terminal.Terminal) error {
	q, err := c.request(time.Now())
	if err != nil {
		return err
	}
	return c.with(ctx, t, func(api tokenAPI) error {
		made, err := api.CreateToken(ctx, q)
		return terminal.PrintOne(t, made, err, func(made *v1.NewToken) {
			t.Printf("%s\n", made.Text)
			until := "for good"
			if !made.Expires.IsZero() {
				until = "until " + made.Expires.UTC().Format(time.RFC3339)
			}
			t.Complain("hint", fmt.Sprintf("token %s is valid %s and cannot be shown again", made.ID, until))
		})
	})
}

// request returns the request of the flags.
func (c tokenCreateCmd) request(now time.Time) (q v1.TokenRequest, err error) {
	switch {
	case c.Role != "":
		q.Grants = append(q.Grants, auth.Grant{Role: auth.Role(c.Role), Collections: c.Collection})
	case len(c.Collection) > 0:
		return q, terminal.Usagef("--collection requires --role")
	case len(c.Grant) == 0:
		return q, terminal.Hinted(terminal.Usagef("a token needs a role"),
			"such as --role reader, or --role operator --collection partners")
	}
	for _, text := range c.Grant {
		g, err := auth.ParseGrant(text)
		if err != nil {
			return q, terminal.Usagef("--grant: %v", err)
		}
		q.Grants = append(q.Grants, g)
	}
	if c.Name != "" {
		if err := scheduler.ValidateName("name", c.Name); err != nil {
			return q, terminal.Usage(err)
		}
	}
	q.Name = c.Name
	q.Expires, err = expiry(c.Expires, now)
	return q, err
}

// expiry parses the expiry of a token; the zero time means never.
func expiry(text string, now time.Time) (time.Time, error) {
	if text == "never" {
		return time.Time{}, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil && n > 0 {
			return now.Add(time.Duration(n) * 24 * time.Hour).UTC().Truncate(time.Second), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= time.Minute {
		return now.Add(d).UTC().Truncate(time.Second), nil
	}
	for _, form := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(form, text); err == nil && at.After(now) {
			return at.UTC(), nil
		}
	}
	return time.Time{}, terminal.Usagef(
		"--expires: %q is neither a duration such as 12h or 90d, nor a future time such as 2027-01-31, nor never", text,
	)
}

type tokenListCmd struct{ tokenStore }

// Run lists the tokens.
func (c tokenListCmd) Run(ctx context.Context, t *terminal.Terminal) error {
	return c.with(ctx, t, func(api tokenAPI) error {
		all, err := api.Tokens(ctx)
		now := time.Now()
		return terminal.PrintList(t, all, err, `no tokens: create one with "carillon token create --role admin"`,
			[]string{"ID", "NAME", "ROLES", "CREATED", "STATE"}, func(one *v1.Token) []string {
				return []string{one.ID, one.Name, grantsOf(one), terminal.Ago(one.Created, now), validityOf(one, now)}
			})
	})
}

// grantsOf formats the roles of a token.
func grantsOf(t *v1.Token) string {
	return strings.Join(terminal.All(t.Grants, auth.Grant.String), " ")
}

// validityOf formats the validity of a token.
func validityOf(t *v1.Token, now time.Time) string {
	switch {
	case t.Problem != "":
		return t.Problem
	case !t.Revoked.IsZero():
		return "revoked"
	case t.Expires.IsZero():
		return "good"
	case !now.Before(t.Expires):
		return "expired"
	}
	return "valid until " + t.Expires.UTC().Format(time.DateOnly)
}

type tokenRevokeCmd struct {
	tokenStore

	IDs []string `arg:"" name:"id" help:"Ids of tokens, or names if unique; see \"carillon token list\"."`
}

// Run revokes the tokens, and continues after an error.
func (c tokenRevokeCmd) Run(ctx context.Context, t *terminal.Terminal) error {
	return c.with(ctx, t, func(api tokenAPI) error {
		all, err := api.Tokens(ctx)
		if err != nil {
			return err
		}
		return remote.EachOf(ctx, t, "token", c.IDs, func(name string) (string, error) {
			id, err := tokenOf(all, name)
			if err == nil {
				_, err = api.RevokeToken(ctx, id)
			}
			return "revoked", err
		}, nil)
	})
}

// tokenOf returns the id of the token with an id, or with a name that only one unrevoked token has.
func tokenOf(all []*v1.Token, name string) (id string, err error) {
	for _, t := range all {
		switch {
		case t.ID == name:
			return t.ID, nil
		case t.Name != name || !t.Revoked.IsZero():
		case id != "":
			return "", terminal.Hinted(fmt.Errorf("token %s: %w: several have this name", name, scheduler.ErrConflict),
				`name it by its id; "carillon token list" shows them`)
		default:
			id = t.ID
		}
	}
	if id == "" {
		return "", fmt.Errorf("token %s: %w", name, scheduler.ErrNotFound)
	}
	return id, nil
}
