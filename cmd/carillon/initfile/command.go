package initfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/cmd/carillon/check"
	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Command is `carillon init`.
type Command struct { //nolint:recvcheck // only the questions change it
	Name string `arg:"" optional:"" help:"Name of the job: job, or collection/job."`

	Type     string `help:"Action type: http, storageQueue, serviceBusQueue, serviceBusTopic or natsMessage." placeholder:"TYPE"`
	Every    string `help:"How often it runs: 30s, 5m, 1h30m, day, 2 weeks, month." placeholder:"INTERVAL"`
	Cron     string `help:"When it runs, as cron." placeholder:"PATTERN"`
	At       string `help:"When it runs once, or first with --every." placeholder:"TIME"`
	TimeZone string `name:"tz" help:"Time zone of --cron." placeholder:"ZONE"`

	URL       string `name:"url" help:"With http: the URL to call." placeholder:"URL"`
	Method    string `help:"With http: GET, POST, …" placeholder:"METHOD"`
	Account   string `help:"With storageQueue: the storage account." placeholder:"NAME"`
	Namespace string `help:"With serviceBusQueue and serviceBusTopic: the namespace." placeholder:"NAME"`
	Queue     string `help:"With storageQueue and serviceBusQueue: the queue." placeholder:"NAME"`
	Topic     string `help:"With serviceBusTopic: the topic." placeholder:"NAME"`
	Subject   string `help:"With natsMessage: the subject." placeholder:"SUBJECT"`
	Message   string `help:"Message or request body." placeholder:"TEXT"`

	Output string `short:"o" help:"The file, or - for standard output. Default: the job's name, with .yaml." placeholder:"FILE"`
	Force  bool   `short:"f" help:"Replace an existing file."`
}

// Run writes the file.
func (c Command) Run(ctx context.Context, t *terminal.Terminal) error {
	if t.Asks() {
		if err := c.ask(ctx, t); err != nil {
			return err
		}
	}
	text, key, err := c.Text()
	if err != nil {
		return err
	}
	path := cmp.Or(c.Output, key.Job+".yaml")
	if path == "-" {
		t.Printf("%s", text)
		return nil
	}
	mode := os.O_CREATE | os.O_WRONLY | os.O_EXCL
	if c.Force {
		mode = os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	}
	f, err := os.OpenFile(path, mode, 0o666) //nolint:gosec // permissions follow the umask: the file has no secrets
	if errors.Is(err, fs.ErrExist) {
		return terminal.Hinted(terminal.Usagef("%s is there already", path),
			"choose another file with --output, or replace it with --force")
	}
	if err != nil {
		return terminal.Unavailable(err)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return terminal.Unavailable(err)
	}
	if t.JSON {
		return t.PrintJSON(map[string]string{"job": key.String(), "file": path, "result": "wrote"})
	}
	t.Printf("%-9s %s\n", "wrote", path)
	for _, m := range secretNamed.FindAllStringSubmatch(text, -1) {
		t.Complain("hint", fmt.Sprintf("it needs a secret first: %q", "carillon secrets set "+m[1]))
	}
	t.Complain("hint", fmt.Sprintf("%q shows when it runs, %q starts it", "carillon preview -f "+path, "carillon apply "+path))
	return nil
}

// secretNamed finds the names of the secrets that a job file uses, outside of comments.
var secretNamed = regexp.MustCompile(`(?m)^[^#\n]*\{secretRef: ([^}]+)\}`)

// Text returns the job file, and the job's name.
func (c Command) Text() (text string, k scheduler.Key, err error) {
	if c.Name == "" {
		return "", k, terminal.Hinted(terminal.Usagef("the name of the job is missing"), "carillon init NAME --every 5m --url URL")
	}
	if k, err = (remote.Within{Collection: scheduler.DefaultCollection}).Key(c.Name); err != nil {
		return "", k, err
	}
	kind, ok := kindOf(c.kind())
	if !ok {
		return "", k, terminal.Usagef("--type: %q is not one of %s", c.Type, strings.Join(Types(), ", "))
	}
	targets := c.targets()
	for _, name := range kind.fields {
		value := targets[name]
		if *value = cmp.Or(*value, fields[name].preset); *value == "" {
			return "", k, terminal.Usagef("--%s is missing: an action of type %s needs it", name, kind.name)
		}
	}
	if err := c.foreign(kind); err != nil {
		return "", k, err
	}
	p := page{
		Command: c, Name: k.Job, Collection: k.Collection, Type: kind.name,
		Method: cmp.Or(strings.ToUpper(c.Method), http.MethodPost),
	}
	p.Bodiless = slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodDelete}, p.Method)
	if k.Collection == scheduler.DefaultCollection {
		p.Collection = ""
	}
	if err := p.schedule(); err != nil {
		return "", k, terminal.Usage(err)
	}
	var b strings.Builder
	if err := jobTemplate.Execute(&b, p); err != nil {
		return "", k, err
	}
	return b.String(), k, checked(k, b.String())
}

// kind returns the requested type, or the type of the target's flags.
func (c Command) kind() string {
	switch {
	case c.Type != "":
		return c.Type
	case c.Subject != "":
		return "natsMessage"
	case c.Topic != "":
		return "serviceBusTopic"
	case c.Namespace != "":
		return "serviceBusQueue"
	case c.Account != "" || c.Queue != "":
		return "storageQueue"
	}
	return "http"
}

// targets are the flags of the targets.
func (c *Command) targets() map[string]*string {
	return map[string]*string{
		"url": &c.URL, "method": &c.Method, "account": &c.Account, "namespace": &c.Namespace, "queue": &c.Queue, "topic": &c.Topic,
		"subject": &c.Subject, "message": &c.Message,
	}
}

// foreign refuses flags that belong to another type.
func (c Command) foreign(k kind) error {
	own := map[string]bool{"message": true, "method": k.name == "http"}
	for _, name := range k.fields {
		own[name] = true
	}
	for name, value := range c.targets() {
		if *value != "" && !own[name] {
			return terminal.Usagef("--%s does not go with an action of type %s", name, k.name)
		}
	}
	return nil
}

// schedule reads when the job runs.
func (p *page) schedule() (err error) {
	if p.At != "" {
		at, err := document.ParseTime(p.At)
		if err != nil {
			return fmt.Errorf("--at: %w", err)
		}
		p.Start = at.UTC().Format("2006-01-02T15:04:05Z07:00")
	}
	switch {
	case p.Every != "" && p.Cron != "":
		return errors.New("--every and --cron exclude each other")
	case p.TimeZone != "" && p.Cron == "":
		return errors.New("--tz requires --cron")
	case p.Every != "":
		p.Frequency, p.Interval, err = ReadEvery(p.Every)
		return err
	case p.Cron == "" && p.At == "":
		return errors.New("set --every, --cron or --at")
	}
	return nil
}

// checked reads the file as a scheduler does.
func checked(k scheduler.Key, text string) error {
	text = strings.ReplaceAll(text, "${CARILLON_ECHO}", check.Echo)
	checker := check.New(check.Config{})
	defer checker.Close()
	_, err := checker.Document(k, []byte(text), false)
	return err
}

// ask prompts for missing flags.
func (c *Command) ask(ctx context.Context, t *terminal.Terminal) error {
	if err := answer(ctx, t, &c.Name, "Name of the job", "my-job"); err != nil {
		return err
	}
	if c.Type == "" && c.kind() == "http" && c.URL == "" {
		fmt.Fprint(t.Err, "What does it do?\n"+choices())
		if err := answer(ctx, t, &c.Type, "Type", "http"); err != nil {
			return err
		}
	}
	kind, ok := kindOf(c.kind())
	if !ok {
		return nil // the reader of the flags says so
	}
	targets := c.targets()
	for _, name := range kind.fields {
		f := fields[name]
		if err := answer(ctx, t, targets[name], f.question, f.preset); err != nil {
			return err
		}
	}
	if c.Every != "" || c.Cron != "" || c.At != "" {
		return nil
	}
	when := ""
	if err := answer(ctx, t, &when, "How often (30s, 5m, day, 2 weeks), or a cron pattern", "5m"); err != nil {
		return err
	}
	if _, _, err := ReadEvery(when); err == nil {
		c.Every = when
		return nil
	}
	c.Cron = when
	return nil
}

// answer asks for a value that is not there. No answer is the preset.
func answer(ctx context.Context, t *terminal.Terminal, value *string, question, preset string) error {
	if *value != "" {
		return nil
	}
	if preset != "" {
		question += " [" + preset + "]"
	}
	text, err := t.Ask(ctx, question+": ")
	if errors.Is(err, io.EOF) {
		return terminal.Usagef("there was no answer")
	}
	*value = cmp.Or(text, preset)
	return err
}
