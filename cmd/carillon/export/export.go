// Package export converts API responses to job files: jobs, collections and sources without the fields that the scheduler
// adds, so that "carillon apply" accepts them. The API never returns secrets, so an export has none: its notes
// name their places.
package export

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/carillon-sched/carillon/cmd/carillon/jobfile"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/client"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/source"
	"github.com/carillon-sched/carillon/scheduler/variable"
)

// Document is a job or a collection as a job file has it.
type Document struct {
	Key   scheduler.Key // of a collection, Job is empty
	Value document.Value

	// Notes lists differences from the original: the places of secrets, and that a completed job would run again.
	Notes []string

	// OfEvents reports that it is a source of events.
	OfEvents bool

	// Damaged reports that the stored document is unreadable and cannot be exported.
	Damaged bool
}

// Job makes a document of a job.
func Job(j *client.Job) (Document, error) {
	v, err := document.Parse(j.Properties)
	if err != nil {
		return Document{}, fmt.Errorf("job %s: %w", j.Name, err)
	}
	d := Document{Key: j.Key()}
	if j.State == scheduler.Damaged {
		d.Notes, d.Damaged = []string{"it is not exported: " + j.Status.Message}, true
		return d, nil
	}
	members := []document.Member{text("name", d.Key.Job), text("collection", d.Key.Collection)}
	members = append(members, variable.Escape(v.Without("state", "status")).Members()...)
	switch {
	case !j.State.Final():
		members = append(members, text("state", string(j.State)))
	case j.Status.Occurrences > 0: // else no time of its schedule was left, and none is anywhere
		d.Notes = append(d.Notes, fmt.Sprintf("it is %s: a scheduler that does not have it would run it again", j.State))
	}
	for _, path := range j.Secrets {
		d.Notes = append(d.Notes, path+" is a secret, and is not exported")
	}
	d.Value = document.ObjectValue(members...)
	return d, nil
}

// Collection makes a document of a collection.
func Collection(c *client.Collection) (Document, error) {
	if c.State == scheduler.Damaged {
		note := "it is not exported: its stored data cannot be read; put it again, or delete it"
		return Document{Key: scheduler.Key{Collection: c.Name}, Notes: []string{note}, Damaged: true}, nil
	}
	v, err := document.Parse(c.Document)
	if err != nil {
		return Document{}, fmt.Errorf("collection %s: %w", c.Name, err)
	}
	members := []document.Member{text("name", c.Name), text("type", v1.CollectionType)}
	members = append(members, variable.Escape(v.Without("id", "type", "name", "etag")).Members()...)
	return Document{Key: scheduler.Key{Collection: c.Name}, Value: document.ObjectValue(members...)}, nil
}

// Source makes a document of a source of events.
func Source(s *client.Source) (Document, error) {
	d := Document{Key: s.Key(), OfEvents: true}
	if s.Properties.Status.Damage != "" {
		d.Notes, d.Damaged = []string{"it is not exported: " + s.Properties.Status.Damage}, true
		return d, nil
	}
	v, err := document.Parse(s.Document)
	if err != nil {
		return d, fmt.Errorf("source %s: %w", s.Key(), err)
	}
	properties, _ := v.Member("properties")
	members := []document.Member{text("kind", source.Kind), text("name", s.Name), text("collection", s.Collection)}
	members = append(members, variable.Escape(properties.Without("status")).Members()...)
	d.Value = document.ObjectValue(members...)
	if _, err := source.Read(s.Key(), d.Value, nil); err != nil {
		d.Notes = []string{"its secrets are not exported"}
	}
	return d, nil
}

func text(name, text string) document.Member {
	return document.Member{Name: name, Value: document.StringValue(text)}
}

// String returns the document's name.
func (d Document) String() string { return jobfile.NameOf(d.Key, d.OfEvents) }

// YAML is the document with its notes as comments.
func (d Document) YAML() []byte {
	var b strings.Builder
	for _, note := range d.Notes {
		b.WriteString("# " + note + "\n")
	}
	if d.Damaged {
		return []byte(b.String())
	}
	b.Write(d.Value.YAML())
	return []byte(b.String())
}

// WriteFiles writes a file per document below a directory, and prints their names.
func WriteFiles(t *terminal.Terminal, dir string, documents []Document) error {
	for _, d := range documents {
		name, err := d.file()
		if err != nil {
			return err
		}
		path := filepath.Join(dir, name)
		err = os.MkdirAll(filepath.Dir(path), 0o777) //nolint:gosec // umask: the files have no secrets
		if err == nil {
			err = terminal.WritePrivate(path, d.YAML())
		}
		if err != nil {
			return terminal.Unavailable(err)
		}
		t.Printf("%-9s %s\n", "wrote", path)
	}
	return nil
}

// file is the name of the document's file. A job and a source may have the same name. It refuses names that no scheduler has: a
// server that answers with ../x could otherwise choose where files are written.
func (d Document) file() (string, error) {
	switch k := d.Key; {
	case k.Job == "":
		return k.Collection + ".yaml", scheduler.ValidateCollection(k.Collection)
	case d.OfEvents:
		return filepath.Join(k.Collection, k.Job+".source.yaml"), k.Validate()
	default:
		return filepath.Join(k.Collection, k.Job+".yaml"), k.Validate()
	}
}

// Stream is several documents as one file.
func Stream(all []Document) []byte {
	var b strings.Builder
	for i, d := range all {
		if i > 0 {
			b.WriteString("---\n")
		}
		b.Write(d.YAML())
	}
	return []byte(b.String())
}
