package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/carillon-sched/carillon/scheduler/api/v1"
)

func secretPath(name string) string { return "/secrets/" + url.PathEscape(name) }

// PutSecret sets a shared secret. created reports whether it is new.
func (c *Client) PutSecret(ctx context.Context, name, value, description string) (s *v1.SharedSecret, created bool, err error) {
	body, err := json.Marshal(v1.SharedSecretRequest{Value: value, Description: description})
	if err != nil {
		return nil, false, err
	}
	s = &v1.SharedSecret{}
	status, err := c.call(ctx, http.MethodPut, secretPath(name), body, s)
	return s, status == http.StatusCreated, err
}

// Secrets returns all shared secrets by name.
func (c *Client) Secrets(ctx context.Context) ([]*v1.SharedSecret, error) {
	return list[*v1.SharedSecret](ctx, c, "/secrets")
}

// DeleteSecret deletes a shared secret. force deletes one that jobs refer to, too.
func (c *Client) DeleteSecret(ctx context.Context, name string, force bool) error {
	path := secretPath(name)
	if force {
		path += "?force=true"
	}
	return c.do(ctx, http.MethodDelete, path)
}

// RotateSecrets seals the secrets of all jobs and all shared secrets with the server's first key. It has no timeout.
func (c *Client) RotateSecrets(ctx context.Context) (*v1.Rotation, error) {
	patient, done := c.patient()
	defer done()
	return ask[v1.Rotation](ctx, patient, http.MethodPost, "/secrets/rotate", nil)
}
