package contexts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/carillon-sched/carillon/cmd/carillon/certificates"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
)

// Command is `carillon context`.
type Command struct {
	List   listCmd   `cmd:"" aliases:"ls" help:"List contexts."`
	Use    useCmd    `cmd:"" help:"Select the current context."`
	Set    setCmd    `cmd:"" help:"Create or change a context."`
	Show   showCmd   `cmd:"" help:"Show one context."`
	Delete deleteCmd `cmd:"" aliases:"rm" help:"Delete contexts."`
}

// ProvideFile returns the file of contexts, which kong gives to a command's Run.
func (Command) ProvideFile(t *terminal.Terminal) (*File, error) { return Load(t.Lookup) }

// entry is a context for programs.
type entry struct {
	Name                string `json:"name"`
	Server              string `json:"server,omitempty"`
	Collection          string `json:"collection,omitempty"`
	Token               bool   `json:"token"` // there is one
	certificates.Client        //nolint:embeddedstructfieldcheck // the output has it here

	Current bool `json:"current"`
}

func (f *File) entry(name string) entry {
	c := f.Contexts[name]
	return entry{name, redacted(c.Server), c.Collection, c.Token != "", c.Client, name == f.Current}
}

// redacted is an address without the password in it.
func redacted(server string) string {
	if u, err := url.Parse(server); err == nil {
		return u.Redacted()
	}
	return server
}

type listCmd struct{}

// Run lists the contexts.
func (listCmd) Run(t *terminal.Terminal, f *File) error {
	entries := terminal.All(f.Names(), f.entry)
	return terminal.PrintList(t, entries, nil, `no contexts: create one with "carillon context set NAME --server URL"`,
		[]string{" ", "CONTEXT", "SERVER", "COLLECTION", "TOKEN"}, func(e entry) []string {
			star, token := " ", "-"
			if e.Current {
				star = "*"
			}
			if e.Token {
				token = "set"
			}
			return []string{star, e.Name, cmp.Or(e.Server, "-"), cmp.Or(e.Collection, "-"), token}
		})
}

type useCmd struct {
	Name string `arg:"" name:"context" help:"Name of the context."`
}

// Run changes the current context.
func (c useCmd) Run(t *terminal.Terminal, f *File) error {
	if _, err := f.Choose(c.Name); err != nil {
		return err
	}
	f.Current = c.Name
	return f.saveAnd(t, "used", c.Name)
}

// saveAnd saves the file and prints the change to a context.
func (f *File) saveAnd(t *terminal.Terminal, done, name string) error {
	if err := f.Save(); err != nil {
		return err
	}
	if t.JSON {
		return t.PrintJSON(changed{name, done})
	}
	t.Printf("%-9s %s\n", done, name)
	return nil
}

// changed is the JSON output of a change to a context.
type changed struct {
	Context string `json:"context"`
	Result  string `json:"result"`
}

type setCmd struct {
	Name       string `arg:"" name:"context" help:"Name of the context."`
	Server     string `help:"Address of the scheduler's REST API, or of its proxy." placeholder:"URL"`
	Collection string `short:"c" help:"Default collection." placeholder:"NAME"`
	TokenFile  string `help:"A file with the token, or - for standard input. It is sent as Authorization: Bearer." placeholder:"FILE"`
	NoToken    bool   `help:"Forget the token."`
	CA         string `name:"ca-file" help:"PEM file of the certificate authorities to trust instead of the system's." placeholder:"FILE"`
	Cert       string `name:"cert-file" help:"PEM file of the client certificate." placeholder:"FILE"`
	Key        string `name:"key-file" help:"PEM file of the certificate's key." placeholder:"FILE"`
	NoFiles    bool   `help:"Forget the authorities and the certificate."`
}

// Run makes or changes a context.
func (c setCmd) Run(ctx context.Context, t *terminal.Terminal, f *File) error {
	next, known := f.Contexts[c.Name]
	if err := c.change(ctx, t, &next); err != nil {
		return err
	}
	if f.Contexts == nil {
		f.Contexts = map[string]Context{}
	}
	f.Contexts[c.Name] = next
	if len(f.Contexts) == 1 {
		f.Current = c.Name
	}
	done := "created"
	if known {
		done = "updated"
	}
	return f.saveAnd(t, done, c.Name)
}

// change applies the flags.
func (c setCmd) change(ctx context.Context, t *terminal.Terminal, to *Context) error {
	if err := scheduler.ValidateName("context", c.Name); err != nil {
		return terminal.Usage(err)
	}
	if c.Server != "" && c.Server != to.Server {
		if _, err := client.NewREST(client.RESTConfig{URL: c.Server}); err != nil {
			return terminal.Usage(err)
		}
		if to.Token != "" && c.TokenFile == "" {
			t.Complain("hint", "the token was for "+redacted(to.Server)+" and is forgotten; give one with --token-file")
		}
		if to.Client != (certificates.Client{}) && c.files() == (certificates.Client{}) {
			t.Complain("hint", "the authorities and the certificate were for "+redacted(to.Server)+
				" and are forgotten; give some with --ca-file and --cert-file")
		}
		*to = Context{Server: strings.TrimRight(c.Server, "/"), Collection: to.Collection}
	}
	if c.Collection != "" {
		if err := scheduler.ValidateCollection(c.Collection); err != nil {
			return terminal.Usage(err)
		}
		to.Collection = c.Collection
	}
	if err := c.changeFiles(to); err != nil {
		return err
	}
	return c.changeToken(ctx, t, to)
}

// files returns the files that the flags name.
func (c setCmd) files() certificates.Client {
	return certificates.Client{CA: c.CA, Cert: c.Cert, Key: c.Key}
}

// changeFiles applies the flags of the authorities and the certificate. Files are named so that they are found from
// everywhere.
func (c setCmd) changeFiles(to *Context) error {
	given := c.files()
	switch {
	case given == certificates.Client{}:
		if c.NoFiles {
			to.Client = certificates.Client{}
		}
		return nil
	case c.NoFiles:
		return terminal.Usagef("--ca-file, --cert-file and --key-file exclude --no-files")
	case !strings.HasPrefix(to.Server, "https://"):
		return terminal.Usagef("authorities and a certificate are for one server, with an address that begins with https://: " +
			"name it with --server")
	}
	if _, err := given.Config(FileFlags); err != nil {
		return err
	}
	for _, file := range []struct {
		given string
		to    *string
	}{{c.CA, &to.CA}, {c.Cert, &to.Cert}, {c.Key, &to.Key}} {
		if file.given == "" {
			continue
		}
		path, err := filepath.Abs(file.given)
		if err != nil {
			return err
		}
		*file.to = path
	}
	return nil
}

// changeToken applies the flags of the token.
func (c setCmd) changeToken(ctx context.Context, t *terminal.Terminal, to *Context) error {
	switch {
	case c.NoToken && c.TokenFile != "":
		return terminal.Usagef("--token-file and --no-token exclude each other")
	case c.NoToken:
		to.Token = ""
	case c.TokenFile != "":
		if to.Server == "" {
			return terminal.Usagef("a token is for one server: name it with --server")
		}
		token, err := c.token(ctx, t)
		if err != nil {
			return err
		}
		to.Token = token
		if exposed(to.Server) {
			t.Complain("hint", "the token goes over the network unencrypted: use an address that begins with https://")
		}
	}
	return nil
}

// maxToken exceeds what any server accepts in a header.
const maxToken = 1 << 20

// token reads the token.
func (c setCmd) token(ctx context.Context, t *terminal.Terminal) (string, error) {
	if c.TokenFile == "-" && t.Asks() {
		return "", terminal.Hinted(terminal.Usagef("a token that is typed is seen"), "pipe it in, or name a file")
	}
	data, err := t.ReadArgument(ctx, "--token-file", c.TokenFile, maxToken)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(data))
	if token == "" || len(data) == maxToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", errors.New("--token-file: is not one word of printable ASCII")
	}
	return token, nil
}

// exposed reports whether the connection to a server is unencrypted.
func exposed(server string) bool {
	u, err := url.Parse(server)
	if err != nil || u.Scheme == "https" {
		return false
	}
	a, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() != "localhost" && (err != nil || !a.IsLoopback())
}

type showCmd struct {
	Name string `arg:"" name:"context" optional:"" help:"Name of the context. Default: the current one."`
}

// Run shows a context.
func (c showCmd) Run(t *terminal.Terminal, f *File) error {
	name := cmp.Or(c.Name, f.Current)
	if name == "" {
		return terminal.Hinted(fmt.Errorf("the current context: %w", scheduler.ErrNotFound), `choose one with "carillon context use"`)
	}
	if _, err := f.Choose(name); err != nil {
		return err
	}
	e := f.entry(name)
	if t.JSON {
		return t.PrintJSON(e)
	}
	token := "none"
	if e.Token {
		token = "set"
	}
	t.Printf("context: %s\nserver: %s\ncollection: %s\ntoken: %s\n",
		name, cmp.Or(e.Server, "the default"), cmp.Or(e.Collection, scheduler.DefaultCollection), token)
	if e.CA != "" {
		t.Printf("authorities: %s\n", e.CA)
	}
	if e.Cert != "" {
		t.Printf("certificate: %s\nkey: %s\n", e.Cert, e.Key)
	}
	t.Printf("file: %s\n", f.Path)
	return nil
}

type deleteCmd struct {
	Names []string `arg:"" name:"context" help:"Names of contexts."`
}

// Run deletes contexts.
func (c deleteCmd) Run(t *terminal.Terminal, f *File) error {
	all := []changed{}
	for _, name := range c.Names {
		if _, err := f.Choose(name); err != nil {
			return err
		}
		all = append(all, changed{name, "deleted"})
		delete(f.Contexts, name)
		if f.Current == name {
			f.Current = ""
		}
	}
	if err := f.Save(); err != nil {
		return err
	}
	if t.JSON {
		return t.PrintJSON(terminal.List[changed]{Value: all})
	}
	for _, one := range all {
		t.Printf("%-9s %s\n", one.Result, one.Context)
	}
	return nil
}
