package contexts

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/cmd/carillon/certificates"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Context is a scheduler to work with.
type Context struct {
	Server     string `json:"server,omitempty"`     // address of its REST API; "": the default one
	Collection string `json:"collection,omitempty"` // of jobs that are named without one; "": default
	Token      string `json:"token,omitempty"`      // sent to Server as Authorization: Bearer; "": none

	certificates.Client //nolint:embeddedstructfieldcheck // of the connection to Server; the file has it last
}

// FileFlags are the flags that name the files of a context.
var FileFlags = certificates.Client{CA: "ca-file", Cert: "cert-file", Key: "key-file"}

// File is the content of the file.
type File struct {
	Current  string             `json:"current,omitempty"` // the default context; "": none
	Contexts map[string]Context `json:"contexts"`

	Path string `json:"-"` // "" without a configuration directory
}

// Variable names the file, in place of the usual one.
const Variable = "CARILLON_CONFIG"

// pathOf returns where the file is: as [Variable] says, or carillon/config.yaml in the user's configuration.
func pathOf(lookup func(string) (string, bool)) string {
	if path, _ := lookup(Variable); path != "" {
		return path
	}
	dir, _ := lookup("XDG_CONFIG_HOME")
	if dir == "" {
		home, _ := lookup("HOME")
		if home == "" {
			var err error
			if home, err = os.UserHomeDir(); err != nil {
				return ""
			}
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "carillon", "config.yaml")
}

// Load reads the file. A missing file has no contexts.
func Load(lookup func(string) (string, bool)) (*File, error) {
	f := &File{Path: pathOf(lookup)}
	if f.Path == "" {
		return f, nil
	}
	data, err := os.ReadFile(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, fmt.Errorf("contexts: %w", err)
	}
	if len(bytes.TrimSpace(data)) > 0 {
		if err := f.read(data); err != nil {
			return nil, fmt.Errorf("contexts: %s: %w", f.Path, err)
		}
	}
	if err := f.guard(); err != nil {
		return nil, err
	}
	return f, nil
}

// guard refuses a file with tokens that others than its owner can read.
func (f *File) guard() error {
	secret := func(c Context) bool { return c.Token != "" }
	if runtime.GOOS == "windows" || !slices.ContainsFunc(slices.Collect(maps.Values(f.Contexts)), secret) {
		return nil
	}
	info, err := os.Stat(f.Path)
	if err != nil {
		return fmt.Errorf("contexts: %w", err)
	}
	if others := info.Mode().Perm() & 0o077; others != 0 {
		return terminal.Hinted(fmt.Errorf("contexts: %s: has tokens, and others may read it (mode %04o)", f.Path, info.Mode().Perm()),
			"chmod 600 "+f.Path)
	}
	return nil
}

// Save writes the file, whole or not at all.
func (f *File) Save() error {
	if f.Path == "" {
		return terminal.Hinted(errors.New("contexts: no home directory found"), "set a file in $"+Variable)
	}
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
		return fmt.Errorf("contexts: %w", err)
	}
	err := terminal.ReplaceFile(f.Path, 0o600, func(w io.Writer) error {
		text, err := json.Marshal(f)
		if err != nil {
			return err
		}
		v, err := document.Parse(text)
		if err == nil {
			_, err = w.Write(v.YAML())
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("contexts: %w", err)
	}
	return nil
}

// Names returns the names of all contexts in order.
func (f *File) Names() []string { return slices.Sorted(maps.Keys(f.Contexts)) }

// Choose returns the context of a name, or the current one for "". There may be none: the zero Context. The error
// matches [scheduler.ErrNotFound].
func (f *File) Choose(name string) (Context, error) {
	if name = cmp.Or(name, f.Current); name == "" {
		return Context{}, nil
	}
	c, ok := f.Contexts[name]
	if ok {
		return c, nil
	}
	err := fmt.Errorf("context %s: %w", name, scheduler.ErrNotFound)
	if near := document.Nearest(name, f.Names()); near != "" {
		return c, terminal.Hinted(err, fmt.Sprintf("did you mean %q?", near))
	}
	return c, terminal.Hinted(err, `"carillon context list" shows those there are`)
}

// For returns the context if a server is its own, else one without token, authorities and certificate.
func (c Context) For(server string) Context {
	if strings.TrimRight(server, "/") == strings.TrimRight(c.Server, "/") {
		return c
	}
	return Context{Server: server, Collection: c.Collection}
}

// read parses a file. Its error contains no token.
func (f *File) read(data []byte) error {
	file, err := document.ParseFile(data)
	if err != nil {
		return err
	}
	if len(file.Documents) != 1 {
		return fmt.Errorf("holds %d documents; one is expected", len(file.Documents))
	}
	r := document.NewReader()
	o := r.Object(file.Documents[0], "")
	f.Current, _ = o.String("current")
	f.Contexts = map[string]Context{}
	if v, ok := o.Value("contexts"); ok {
		f.readContexts(r, v)
	}
	o.Done()
	problems, _ := r.Err().(document.Problems) //nolint:errorlint // it returns nothing else
	if len(problems) == 0 {
		return nil
	}
	line, _ := file.Place(0, problems[0].Path)
	return fmt.Errorf("line %d: %w", line, problems[0])
}

// readContexts reads the contexts by their names.
func (f *File) readContexts(r *document.Reader, v document.Value) {
	if v.Kind() != document.KindObject {
		r.Problem("contexts", "must be an object, not %s", v.Kind())
	}
	for _, m := range v.Members() {
		if m.Value.Kind() == document.KindNull {
			f.Contexts[m.Name] = Context{}
			continue
		}
		o := r.Object(m.Value, "contexts."+m.Name)
		var c Context
		c.Server, _ = o.String("server")
		c.Collection, _ = o.String("collection")
		c.Token, _ = o.String("token")
		c.CA, _ = o.String("caFile")
		c.Cert, _ = o.String("certFile")
		c.Key, _ = o.String("keyFile")
		o.Done()
		f.Contexts[m.Name] = c
	}
}
