package remote

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/cmd/carillon/certificates"
	"github.com/carillon-sched/carillon/cmd/carillon/contexts"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
)

// Server are the flags of the commands that ask a running scheduler, over REST or NATS.
type Server struct {
	REST
	Micro
}

// REST are the flags that have a scheduler asked over REST.
type REST struct {
	Files

	Context string `help:"Context with the server, its token and the collection; see carillon context." env:"CARILLON_CONTEXT" placeholder:"NAME"`
	Address string `name:"server" help:"Address of the scheduler's REST API." default:"http://127.0.0.1:8080" env:"CARILLON_SERVER" placeholder:"URL"`
}

// tokenVariable is the token for the requested server.
const tokenVariable = "CARILLON_TOKEN"

// ProvideClient returns a client of the scheduler, which kong gives to a command's Run.
func (r Server) ProvideClient(t *terminal.Terminal) (*client.Client, error) {
	if r.NATS == "" && r.Creds != "" {
		return nil, terminal.Usagef("--creds goes with --nats-url")
	}
	var c *client.Client
	var err error
	if r.NATS != "" {
		c, err = r.connect(r.Files)
	} else {
		c, err = r.Client(t)
	}
	t.Suggest = func(err error) string { return suggest(c, err) }
	t.Missing = func(err error) error { return missing(c, err) }
	return c, err
}

// Client returns a client of the scheduler. If the server is the context's, it uses the context's token,
// authorities and certificate.
func (r REST) Client(t *terminal.Terminal) (*client.Client, error) {
	chosen, err := r.chosen(t)
	if err != nil {
		return nil, err
	}
	chosen = chosen.For(r.Address)
	token, _ := t.Lookup(tokenVariable)
	files, err := r.Files.or(chosen).config()
	if err != nil {
		return nil, err
	}
	c, err := client.NewREST(client.RESTConfig{URL: r.Address, Token: cmp.Or(token, chosen.Token), TLS: files})
	if err != nil {
		return nil, terminal.Usage(err)
	}
	return c, nil
}

// chosen is the context that is named, or the current one.
func (r REST) chosen(t *terminal.Terminal) (contexts.Context, error) {
	file, err := contexts.Load(t.Lookup)
	if err != nil {
		return contexts.Context{}, err
	}
	return file.Choose(r.Context)
}

// Guess returns the client and the collection of a command line that is not complete, whose flags so far are given by
// name.
func Guess(t *terminal.Terminal, given map[string]string) (api *client.Client, collection string, err error) {
	of := func(flag, variable string) string {
		value, _ := t.Lookup(variable)
		return cmp.Or(given[flag], value)
	}
	s := REST{Context: of("context", "CARILLON_CONTEXT"), Address: of("server", "CARILLON_SERVER"), Files: Files{
		CA: of("ca-file", "CARILLON_CA_FILE"), Cert: of("cert-file", "CARILLON_CERT_FILE"), Key: of("key-file", "CARILLON_KEY_FILE"),
	}}
	chosen, err := s.chosen(t)
	if err != nil {
		return nil, "", err
	}
	s.Address = cmp.Or(s.Address, chosen.Server, defaultServer)
	api, err = s.Client(t)
	return api, cmp.Or(of("collection", "CARILLON_COLLECTION"), chosen.Collection, scheduler.DefaultCollection), err
}

// defaultServer is the default address of a scheduler.
const defaultServer = "http://127.0.0.1:8080"

// UseContext sets the flags of a command from the context, unless the command line or the environment sets them.
func UseContext(command *kong.Context, t *terminal.Terminal) error {
	flags := map[string]*kong.Flag{}
	for _, flag := range command.Flags() {
		flags[flag.Name] = flag
	}
	if flags["context"] == nil { // it asks none
		return nil
	}
	chosen, err := REST{Context: flags["context"].Target.String()}.chosen(t)
	if err != nil {
		return err
	}
	take(command, t, flags["server"], chosen.Server)
	take(command, t, flags["collection"], chosen.Collection)
	return nil
}

// take sets a flag that was not given, neither on the command line nor, other than empty, in the environment.
func take(command *kong.Context, t *terminal.Terminal, flag *kong.Flag, value string) {
	if flag == nil || flag.Target.Kind() != reflect.String { // what may be given several times is no default of anything
		return
	}
	if slices.ContainsFunc(command.Path, func(step *kong.Path) bool { return step.Flag == flag }) {
		return
	}
	for _, name := range flag.Tag.Envs {
		if given, _ := t.Lookup(name); given != "" {
			return
		}
	}
	flag.Target.SetString(cmp.Or(value, flag.Default))
}

// Within is the flag that completes names of jobs.
type Within struct {
	Collection string `short:"c" help:"Collection of jobs that are named without one." default:"default" env:"CARILLON_COLLECTION" placeholder:"NAME"`
}

// Key reads job or collection/job.
func (w Within) Key(name string) (scheduler.Key, error) {
	k := scheduler.Key{Collection: w.Collection, Job: name}
	if c, j, ok := strings.Cut(name, "/"); ok {
		k = scheduler.Key{Collection: c, Job: j}
	}
	if err := k.Validate(); err != nil {
		return k, terminal.Usage(err)
	}
	return k, nil
}

// Keys reads several names.
func (w Within) Keys(names []string) ([]scheduler.Key, error) {
	keys := make([]scheduler.Key, len(names))
	for i, name := range names {
		var err error
		if keys[i], err = w.Key(name); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// EachOf calls do for each object of a kind, prints its result, and continues after an error unless the scheduler is
// unreachable. With --json, all errors come at the end. The output is then one list: of each object its name in the field
// kind, its result, and the fields that more returns. more may be nil.
func EachOf[T any](
	ctx context.Context, t *terminal.Terminal, kind string, objects []T,
	do func(T) (result string, err error), more func(T) map[string]any,
) error {
	documents, failed := []map[string]any{}, []error(nil)
	var gone error // without a scheduler
	for _, one := range objects {
		result, err := do(one)
		if errors.Is(err, scheduler.ErrUnavailable) || ctx.Err() != nil {
			gone = err
			break
		}
		if err != nil && t.Missing != nil && errors.Is(err, scheduler.ErrNotFound) { // one error for all jobs of a missing collection
			of := t.Missing(err)
			if of != nil && slices.ContainsFunc(failed, func(f error) bool { return f.Error() == of.Error() }) {
				continue
			}
			err = cmp.Or(of, err)
		}
		switch {
		case err != nil && t.JSON:
			failed = append(failed, &terminal.Failure{Path: fmt.Sprint(one), Message: err.Error(), Hint: t.HintOf(err), Err: err})
		case err != nil:
			t.Fail(err)
			failed = append(failed, &terminal.Failure{Path: fmt.Sprint(one), Message: err.Error(), Err: err})
		case t.JSON:
			document := map[string]any{kind: fmt.Sprint(one), "result": result}
			if more != nil {
				maps.Copy(document, more(one))
			}
			documents = append(documents, document)
		default:
			t.Printf("%-9s %v\n", result, one)
		}
	}
	if t.JSON {
		_ = t.PrintJSON(terminal.List[map[string]any]{Value: documents}) // of strings and times
	}
	if gone != nil {
		return gone
	}
	return terminal.Reported(failed...)
}

// Files are the TLS flags of a REST or NATS connection.
type Files struct {
	CA   string `name:"ca-file" aliases:"nats-ca" group:"Over TLS" help:"Trust these authorities instead of the system's (PEM)." env:"CARILLON_CA_FILE" placeholder:"FILE"`
	Cert string `name:"cert-file" aliases:"nats-cert" group:"Over TLS" help:"Client certificate with its chain (PEM)." env:"CARILLON_CERT_FILE" placeholder:"FILE"`
	Key  string `name:"key-file" aliases:"nats-key" group:"Over TLS" help:"Key of the client certificate (PEM)." env:"CARILLON_KEY_FILE" placeholder:"FILE"`
}

// Check validates the content of the files.
func (f Files) Check() error {
	_, err := f.config()
	return err
}

func (f Files) config() (*tls.Config, error) {
	return certificates.Client(f).Config(contexts.FileFlags)
}

// or fills missing files from a context. A certificate and its key always come from the same source.
func (f Files) or(c contexts.Context) Files {
	f.CA = cmp.Or(f.CA, c.CA)
	if f.Cert == "" && f.Key == "" {
		f.Cert, f.Key = c.Cert, c.Key
	}
	return f
}

// Micro are the flags that have a scheduler asked over NATS.
type Micro struct {
	NATS   string `name:"nats-url" help:"Use NATS instead of REST: URLs of NATS servers, separated by commas." group:"Over NATS" placeholder:"URL"`
	Creds  string `help:"With --nats-url: credentials file of the NATS user." group:"Over NATS" type:"existingfile" placeholder:"FILE"`
	Inbox  string `name:"inbox-prefix" help:"With --nats-url: inbox prefix of the NATS user, such as _INBOX_alice." group:"Over NATS" default:"_INBOX" placeholder:"NAME"`
	Prefix string `name:"nats-prefix" help:"With --nats-url: the scheduler's --prefix." group:"Over NATS" default:"carillon" placeholder:"NAME"`
}

// connectPatience is how long a NATS server may take to greet.
const connectPatience = 5 * time.Second

// connect returns a client that is connected, for as long as the process lives.
func (m Micro) connect(files Files) (*client.Client, error) {
	if err := files.Check(); err != nil {
		return nil, err
	}
	options := []nats.Option{
		nats.Name("carillon"), nats.Timeout(connectPatience), nats.MaxReconnects(-1),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // what counts is in the error of a request
	}
	nc, err := nats.Connect(m.NATS, append(options, ConnectOptions(m.Creds, m.Inbox, certificates.Client(files))...)...)
	if err != nil {
		hint := terminal.TLSHint(err)
		if hint == "" {
			hint = "name a server that speaks NATS, as nats://127.0.0.1:4222; --creds has its user, or --cert-file its certificate"
		}
		return nil, terminal.Hinted(terminal.Unavailablef("--nats-url: %w", err), hint)
	}
	return client.NewNATS(client.NATSConfig{Conn: nc, Prefix: m.Prefix}), nil
}

// ConnectOptions returns the options of a NATS connection with the credentials file creds ("" for none) and the
// inbox prefix inbox ("" for the default). The files are read again for each connection.
func ConnectOptions(creds, inbox string, files certificates.Client) []nats.Option {
	var o []nats.Option
	if inbox != "" {
		o = append(o, nats.CustomInboxPrefix(inbox))
	}
	if creds != "" {
		o = append(o, nats.UserCredentials(creds))
	}
	if files.CA != "" {
		o = append(o, nats.RootCAs(files.CA))
	}
	if files.Cert != "" {
		o = append(o, nats.ClientCert(files.Cert, files.Key))
	}
	return o
}
