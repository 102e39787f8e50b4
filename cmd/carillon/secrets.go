package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/client"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/seal"
)

// secretsCmd are the commands that deal with secrets.
type secretsCmd struct {
	Set    secretsSetCmd    `cmd:"" help:"Set a shared secret."`
	List   secretsListCmd   `cmd:"" help:"List shared secrets, without their values."`
	Delete secretsDeleteCmd `cmd:"" help:"Delete shared secrets."`
	Rotate secretsRotateCmd `cmd:"" help:"Seal everything with the scheduler's first key."`
	Keygen secretsKeygenCmd `cmd:"" help:"Make a key, for a key file."`
}

// Help tells what secrets are.
func (secretsCmd) Help() string {
	return `A password, token or key in a job can be written and used, but never read again: it is left out of whatever
"carillon get" and the APIs show, and sealed in the store with a key that only the schedulers have. Instead of
the secret itself a job may name a shared one:

    password: {secretRef: billing-password}

It is looked up at every attempt, so that a new value needs no change of the jobs.`
}

type secretsSetCmd struct {
	remote

	Name        string `arg:"" help:"Name of the secret."`
	ValueFile   string `name:"value-file" help:"File with the value, or - for standard input. A line break at its end is left out. Without it the value is asked for." placeholder:"FILE"`
	Description string `help:"What it is for." placeholder:"TEXT"`
}

// Help shows examples.
func (secretsSetCmd) Help() string {
	return `Jobs name it as {"secretRef": "NAME"}, wherever a secret may stand, and use the new value from their next
attempt on. The value is no argument: others would see it in the list of processes, and in the shell's history. It
is text of at most 12,288 bytes; put what is not, such as a .pfx file, in base64.

Examples:

    carillon secrets set orders-sas
    carillon secrets set orders-sas --value-file token.txt --description "send to orders, until June"
    base64 -w0 client.pfx | carillon secrets set client-pfx --value-file -
    az storage queue generate-sas … -o tsv | carillon secrets set orders-sas --value-file -`
}

// Run sets the secret.
func (c secretsSetCmd) Run(ctx context.Context, t *terminal) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	if err := scheduler.ValidateName("secret", c.Name); err != nil {
		return &usageError{err}
	}
	value, err := c.value(ctx, t)
	if err != nil {
		return err
	}
	s, created, err := api.PutSecret(ctx, c.Name, value, c.Description)
	if err != nil {
		return err
	}
	if t.json {
		return t.printJSON(s)
	}
	done := "updated"
	if created {
		done = "created"
	}
	t.printf("%-9s %s\n", done, s.Name)
	return nil
}

type secretsListCmd struct{ remote }

// Help shows examples.
func (secretsListCmd) Help() string {
	return `Examples:

    carillon secrets list
    carillon secrets list --json`
}

// Run lists the secrets.
func (c secretsListCmd) Run(ctx context.Context, t *terminal) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	all, err := api.Secrets(ctx)
	if err != nil {
		return err
	}
	if t.json {
		return t.printJSON(list[*client.Secret]{Value: append([]*client.Secret{}, all...)})
	}
	if len(all) == 0 {
		t.complain("hint", `there are no shared secrets; "carillon secrets set NAME" makes one`)
		return nil
	}
	now := time.Now()
	rows := make([][]string, len(all))
	for i, s := range all {
		if s.Problem != "" {
			rows[i] = []string{s.Name, "", "", "", t.paint(red, s.Problem)}
			continue
		}
		rows[i] = []string{s.Name, ago(s.Updated, now), ago(s.Created, now), s.Key, s.Description}
	}
	return t.table([]string{"NAME", "UPDATED", "CREATED", "KEY", "DESCRIPTION"}, rows)
}

type secretsDeleteCmd struct {
	remote

	Names []string `arg:"" name:"name" help:"Names of secrets."`
	Force bool     `help:"Delete them also while jobs refer to them. Attempts of these fail from then on."`
}

// Help shows examples.
func (secretsDeleteCmd) Help() string {
	return `A secret that jobs refer to which may still run stays, and they are named (exit code 4).

Examples:

    carillon secrets delete orders-sas
    carillon secrets delete --force orders-sas`
}

// Run deletes the secrets, and goes on after an error.
func (c secretsDeleteCmd) Run(ctx context.Context, t *terminal) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	var failed []error
	for _, name := range c.Names {
		err := scheduler.ValidateName("secret", name)
		if err == nil {
			err = api.DeleteSecret(ctx, name, c.Force)
		}
		switch {
		case errors.Is(err, scheduler.ErrUnavailable), ctx.Err() != nil:
			return err
		case err != nil:
			t.fail(err)
			failed = append(failed, err)
		case t.json:
			_ = t.printJSON(deletedSecret{"deleted", name}) // of strings
		default:
			t.printf("%-9s %s\n", "deleted", name)
		}
	}
	return reported(failed)
}

// deletedSecret is a result for programs.
type deletedSecret struct {
	Result string `json:"result"`
	Secret string `json:"secret"`
}

type secretsRotateCmd struct{ remote }

// Help tells how keys are changed.
func (secretsRotateCmd) Help() string {
	return `How to change the key, without a moment in which anything fails:

 1. "carillon secrets keygen" and add the line at the end of every scheduler's key file; restart them, one
    after the other. All can open with the new key now.
 2. Move the line to the front of every key file; restart. All seal with the new key now.
 3. "carillon secrets rotate". It changes no job but in what its secrets are sealed with, and can be repeated.
 4. When nothing failed, and the occurrences that were under way have ended, remove the old line; restart.

Sealing again does not take back what was read with a stolen key, nor what lies in old revisions and backups:
then set new secrets as well.

Examples:

    carillon secrets rotate
    carillon secrets rotate --json`
}

// Run rotates.
func (c secretsRotateCmd) Run(ctx context.Context, t *terminal) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	r, err := api.RotateSecrets(ctx)
	if err != nil {
		return err
	}
	if t.json {
		err = t.printJSON(r)
	} else {
		printRotation(t, r)
	}
	if err == nil && r.Failures > 0 {
		err = hinted(fmt.Errorf("%s not sealed again", plural(r.Failures, "secret or job was", "secrets or jobs were")),
			"put back the key they were sealed with, at the end of the key file, or set them again")
	}
	return err
}

func printRotation(t *terminal, r *scheduler.Rotation) {
	for _, f := range r.Failed {
		what := "secret " + f.Secret
		if f.Job != "" {
			what = "job " + f.Job
		}
		t.printf("%s  %s  %s\n", t.paint(red, "failed"), what, f.Reason)
	}
	if more := r.Failures - len(r.Failed); more > 0 {
		t.printf("%s  %d more\n", t.paint(red, "failed"), more)
	}
	t.printf("key %s: %s and %s sealed again, %d had it before\n", r.Key,
		plural(r.Jobs, "job", "jobs"), plural(r.Secrets, "shared secret", "shared secrets"), r.Skipped)
}

type secretsKeygenCmd struct {
	ID string `name:"id" help:"Id of the key: letters, digits, - and _. Default: today's date with a few random characters." placeholder:"ID"`
}

// madeKey is a key for programs: its id, and its line in a key file.
type madeKey struct {
	ID   string `json:"id"`
	Line string `json:"line"`
}

// Help shows examples.
func (secretsKeygenCmd) Help() string {
	return `Prints one line: the key's id, a colon, and 32 random bytes in base64. A key file holds such lines; the first key
seals, all open. Keep a copy apart from the store's backups: without the key nobody can read the secrets, and
they must be set again.

Examples:

    (umask 077; carillon secrets keygen > secret.key)
    carillon serve --secret-key-file secret.key
    carillon secrets keygen --id 2026-03 >> secret.key`
}

// Run makes the key. It asks no scheduler.
func (c secretsKeygenCmd) Run(t *terminal) error {
	id := c.ID
	if id == "" {
		id = keyID("")
	}
	k, err := seal.NewKey(id)
	if err != nil {
		return &usageError{err}
	}
	if t.json {
		return t.printJSON(madeKey{k.ID(), k.Text()})
	}
	t.printf("%s\n", k.Text())
	return nil
}
