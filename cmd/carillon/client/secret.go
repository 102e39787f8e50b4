package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/carillon-sched/carillon/scheduler/secrets"
)

// Secret is a shared secret as the API shows it: all but its value.
type Secret struct {
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Created     time.Time `json:"created"`
	Updated     time.Time `json:"updated"`
	Key         string    `json:"key"`               // id of the key that seals it
	Problem     string    `json:"problem,omitempty"` // why it cannot be read; then only the name is known
}

func secretPath(name string) string { return "/secrets/" + url.PathEscape(name) }

// PutSecret sets a shared secret. created tells whether it is new.
func (c *Client) PutSecret(ctx context.Context, name, value, description string) (s *Secret, created bool, err error) {
	body, err := json.Marshal(struct {
		Value       string `json:"value"`
		Description string `json:"description,omitempty"`
	}{value, description})
	if err != nil {
		return nil, false, err
	}
	s = &Secret{}
	status, err := c.call(ctx, http.MethodPut, secretPath(name), body, s)
	return s, status == http.StatusCreated, err
}

// Secrets returns all shared secrets by name.
func (c *Client) Secrets(ctx context.Context) ([]*Secret, error) {
	var page struct {
		Value []*Secret `json:"value"`
	}
	_, err := c.call(ctx, http.MethodGet, "/secrets", nil, &page)
	return page.Value, err
}

// DeleteSecret deletes a shared secret: with force also one that jobs refer to.
func (c *Client) DeleteSecret(ctx context.Context, name string, force bool) error {
	path := secretPath(name)
	if force {
		path += "?force=true"
	}
	_, err := c.call(ctx, http.MethodDelete, path, nil, nil)
	return err
}

// RotateSecrets seals the secrets of every job and every shared secret with the
// server's first key. It takes as long as it takes.
func (c *Client) RotateSecrets(ctx context.Context) (*secrets.Rotation, error) {
	patient := *c
	patient.http = &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment}}
	defer patient.http.CloseIdleConnections()
	r := &secrets.Rotation{}
	_, err := patient.call(ctx, http.MethodPost, "/secrets/rotate", nil, r)
	return r, err
}
