package document_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler/document"
)

func TestOmitted(t *testing.T) {
	parse := func(text string) document.Value {
		v, err := document.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	old := parse(`{"headers": {"X-Api-Key": "s", "Accept": "a"}, "token": "s", "shared": {"secretRef": "n"}, "authentication":
		{"type": "Basic", "password": "s"}, "list": [1]}`)
	r := document.NewReader()
	o := r.Object(old, "")
	headers, _ := o.Object("headers")
	headers.Secret("X-Api-Key")
	authentication, _ := o.Object("authentication")
	authentication.Secret("password")
	for _, name := range []string{"token", "shared"} {
		if _, ok := o.Secret(name); !ok {
			t.Fatal(r.Err())
		}
	}
	const token, password = "at.token", "at.authentication.password"
	for next, want := range map[string][]string{
		`{}`:                           {`at.headers.X-Api-Key`, token, password},
		`{"headers": {"Accept": "a"}}`: {`at.headers.X-Api-Key`, token, password},
		`{"headers": null, "token": null, "authentication": {"type": "basic", "password": null}}`:                           nil,
		`{"HEADERS": {"x-api-key": "t"}, "TOKEN": {"secretRef": "x"}, "authentication": {"type": "Basic", "PASSWORD": ""}}`: nil,
		`{"headers": 1, "token": "", "authentication": {"type": "OAuth2"}}`:                                                 nil,
		`{"headers": {}, "token": "", "authentication": {}}`:                                                                {`at.headers.X-Api-Key`, password},
		`[]`: nil,
	} {
		if diff := cmp.Diff(want, old.Omitted("at", parse(next))); diff != "" {
			t.Errorf("%s: %s", next, diff)
		}
	}
}

// TestOmittedOfAnotherType shows that what both types have in common is compared, as of http and https.
func TestOmittedOfAnotherType(t *testing.T) {
	old, err := document.Parse([]byte(`{"type": "Http", "token": "s", "request": {"headers": {"X-Api-Key": "s"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	o := document.NewReader().Object(old, "")
	o.Secret("token")
	request, _ := o.Object("request")
	headers, _ := request.Object("headers")
	headers.Secret("X-Api-Key")
	for next, want := range map[string][]string{
		`{"type": "Https", "request": {}}`:        {"request.headers.X-Api-Key"},
		`{"type": "http", "request": {}}`:         {"token", "request.headers.X-Api-Key"},
		`{"type": "StorageQueue", "message": {}}`: nil,
	} {
		v, err := document.Parse([]byte(next))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, old.Omitted("", v)); diff != "" {
			t.Errorf("%s: %s", next, diff)
		}
	}
}

// TestCompleted brings back what is omitted, and nothing else.
func TestCompleted(t *testing.T) {
	parse := func(text string) document.Value {
		v, err := document.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	old := parse(`{"type": "Http", "headers": {"X-Api-Key": "s", "Accept": "a"}, "token": "s", "authentication": {"type": "Basic", "password": "s"}}`)
	o := document.NewReader().Object(old, "")
	headers, _ := o.Object("headers")
	headers.Secret("X-Api-Key")
	authentication, _ := o.Object("authentication")
	authentication.Secret("password")
	o.Secret("token")
	const header, token, password = "at.headers.X-Api-Key", "at.token", "at.authentication.password"
	for next, want := range map[string][]string{
		`{}`:                           {header, token},
		`{"headers": {"Accept": "b"}}`: {header, token},
		`{"headers": null, "token": null, "authentication": {"type": "basic", "password": null}}`: nil,
		`{"HEADERS": {"x-api-key": "t"}, "TOKEN": "", "authentication": {"type": "Basic"}}`:       {password},
		`{"headers": {}, "token": "", "authentication": {"type": "OAuth2"}}`:                      {header},
		`{"type": "Other", "token": "x"}`:                                                         nil,
		`[]`:                                                                                      nil,
	} {
		whole, kept := old.Completed("at", parse(next))
		if diff := cmp.Diff(want, kept); diff != "" {
			t.Errorf("%s: %s", next, diff)
		}
		if left := old.Omitted("at", whole); len(left) > 0 && (len(left) > 1 || left[0] != password) {
			t.Errorf("%s: %v are still missing", next, left)
		}
	}
}
