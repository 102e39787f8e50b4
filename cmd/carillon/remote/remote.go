package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

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

	Context string `help:"Context to take the server, its token and the collection from; see carillon context." env:"CARILLON_CONTEXT" placeholder:"NAME"`
	Address string `name:"server" help:"Address of the scheduler's REST API." default:"http://127.0.0.1:8080" env:"CARILLON_SERVER" placeholder:"URL"`
}

// tokenVariable is the token for whatever server is asked.
const tokenVariable = "CARILLON_TOKEN"

// ProvideClient returns a client of the scheduler, which kong gives to a command's Run.
func (r Server) ProvideClient(t *terminal.Terminal) (*client.Client, error) {
	if err := r.check(); err != nil {
		return nil, err
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

// Client returns a client of the scheduler. Of the context it takes the token, the authorities and the certificate, if
// the server is that of the context.
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

// defaultServer is where a scheduler is that nobody moved.
const defaultServer = "http://127.0.0.1:8080"

// UseContext gives the flags of a command that asks a scheduler what the context says, unless the command line or the
// environment does.
func UseContext(command *kong.Context, t *terminal.Terminal) error {
	var server, collection, name *kong.Flag
	for _, flag := range command.Flags() {
		switch flag.Name {
		case "server":
			server = flag
		case "collection":
			collection = flag
		case "context":
			name = flag
		}
	}
	if name == nil { // it asks none
		return nil
	}
	chosen, err := REST{Context: name.Target.String()}.chosen(t)
	if err != nil {
		return err
	}
	take(command, t, server, chosen.Server)
	take(command, t, collection, chosen.Collection)
	return nil
}

// take sets a flag that was not given, neither on the command line nor, other than empty, in the environment.
func take(command *kong.Context, t *terminal.Terminal, flag *kong.Flag, value string) {
	if flag == nil || flag.Target.Kind() != reflect.String { // what may be given several times is no default of anything
		return
	}
	for _, path := range command.Path {
		if path.Flag == flag {
			return
		}
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

// EachOf does do to every thing, says what was done, and goes on after an error, but not without a scheduler. Programs
// are told of all errors at the end. document is what programs are told of a thing that is done, in one list.
func EachOf[T any](
	ctx context.Context, t *terminal.Terminal, things []T, done string, do func(T) error, document func(T) any,
) error {
	return EachResult(ctx, t, things, func(thing T) (string, error) { return done, do(thing) },
		func(thing T, _ string) any { return document(thing) })
}

// EachResult is [EachOf] for what does not have the same result for every thing: do returns it.
func EachResult[T any](
	ctx context.Context, t *terminal.Terminal, things []T, do func(T) (string, error), document func(T, string) any,
) error {
	documents := []any{}
	failed, err := each(ctx, t, things, do, func(thing T, result string) {
		if t.JSON {
			documents = append(documents, document(thing, result))
			return
		}
		t.Printf("%-9s %v\n", result, thing)
	})
	if t.JSON {
		_ = t.PrintJSON(terminal.List[any]{Value: documents}) // of strings
	}
	if err != nil {
		return err
	}
	return terminal.Reported(failed...)
}

// each does do to every thing, and returns the errors that it has reported: one for a collection that does not exist, and not one
// for each of its jobs. It stops without a scheduler.
func each[T any](
	ctx context.Context, t *terminal.Terminal, things []T, do func(T) (string, error), done func(T, string),
) (failed []error, err error) {
	for _, thing := range things {
		result, err := do(thing)
		switch {
		case errors.Is(err, scheduler.ErrUnavailable), ctx.Err() != nil:
			return failed, err
		case err != nil:
			if t.Missing != nil && errors.Is(err, scheduler.ErrNotFound) {
				of := t.Missing(err)
				if of != nil && slices.ContainsFunc(failed, func(f error) bool { return f.Error() == of.Error() }) {
					continue
				}
				err = cmp.Or(of, err)
			}
			failure := &terminal.Failure{Path: fmt.Sprint(thing), Message: err.Error(), Err: err}
			if t.JSON {
				failure.Hint = t.HintOf(err)
			} else {
				t.Fail(err)
			}
			failed = append(failed, failure)
		default:
			done(thing, result)
		}
	}
	return failed, nil
}
