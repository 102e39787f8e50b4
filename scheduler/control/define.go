package control

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/flow"
)

// define parses and validates the definition of an edit. at is the path of its properties in the document.
func (e Editor) define(ctx context.Context, edit Edit) (r *scheduler.DefinitionDecoder, d *scheduler.Definition, at string, err error) {
	release, err := takeTurn(ctx, e.shared.computing)
	if err != nil {
		return nil, nil, "", err
	}
	defer release()
	c, v, err := e.open(ctx, edit)
	if err != nil {
		return nil, nil, "", err
	}
	r = e.decoder(c, edit.Key)
	draft := r.Document(v)
	if err := e.shared.Secrets.Check(ctx, draft.Object, draft.Written); err != nil {
		return nil, nil, draft.At, err
	}
	d, err = draft.Definition()
	if err != nil {
		return nil, nil, draft.At, err
	}
	return r, d, draft.At, c.Admits(d, r)
}

// open checks the parts of an edit before its content: names, size, syntax and the collection.
func (e Editor) open(ctx context.Context, edit Edit) (*scheduler.Collection, document.Value, error) {
	if err := edit.Key.Validate(); err != nil {
		return nil, document.Value{}, err
	}
	v, err := flow.Parse(ctx, edit.Body)
	if err != nil {
		return nil, v, err
	}
	c, err := e.shared.changeable(ctx, edit.Key.Collection)
	return c, v, err
}

// decoder returns the parser of a document for a job of the collection.
func (e Editor) decoder(c *scheduler.Collection, k scheduler.Key) *scheduler.DefinitionDecoder {
	return &scheduler.DefinitionDecoder{
		Limits: c.Limits(e.shared.Limits), Actions: e.shared.Actions, Key: k, UID: rand.Text(), Now: e.shared.Store.Now().UTC(),
	}
}

// patched returns cur's definition merged with a patch. It rejects a patch that sends secrets elsewhere without
// providing them.
func (e Editor) patched(
	ctx context.Context, edit Edit, r *scheduler.DefinitionDecoder, cur *scheduler.Job, patch document.Value,
) (*scheduler.Definition, error) {
	release, err := takeTurn(ctx, e.shared.computing)
	if err != nil {
		return nil, err
	}
	defer release()
	draft, kept := r.Patched(cur, patch, edit.KeepInLists...)
	if err := e.shared.Secrets.Check(ctx, draft.Object, draft.Written); err != nil {
		return nil, err
	}
	d, err := draft.Definition()
	if err != nil {
		return nil, err
	}
	if err := scheduler.CheckKept(cur.Def, d, kept); err != nil || !edit.DryRun {
		return d, err
	}
	return d.Disguised(rand.Text(), kept), nil
}

// secretMissing is appended to "is required" if the job has a secret: a client that puts back the output of get cannot
// know what is missing.
const secretMissing = "; secrets are not shown by get: send it again, or use PATCH"

// hintSecrets explains the problems of a put document that lacks the job's secrets.
func (e Editor) hintSecrets(ctx context.Context, k scheduler.Key, err error) error {
	if !errors.Is(err, document.ErrRequired) {
		return err
	}
	cur, _, failed := e.shared.find(ctx, k)
	if failed != nil || cur == nil {
		return err // report the document's own problems
	}
	open, locked := cur.Def.Document().SecretPaths()
	problems := slices.Clone(scheduler.ProblemsIn(err))
	for i, p := range problems {
		path := strings.TrimPrefix(p.Path, "properties.")
		if errors.Is(p, document.ErrRequired) && (slices.Contains(open, path) || slices.Contains(locked, path)) {
			problems[i].Message += secretMissing
		}
	}
	return scheduler.AsInvalid(problems)
}
