//go:build !unix

package web

import "net/http"

func newDirect(t *http.Transport) transport { return t }
