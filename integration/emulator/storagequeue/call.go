package storagequeue

import (
	"bytes"
	"crypto/md5" //nolint:gosec // Content-MD5 is of the protocol and guards against damage, not against people
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/wire"
)

// drainLimit is how much of a body that is too long is taken in, so that its client gets to read the answer.
const drainLimit = 4 << 20

// A call is a request that is being carried out.
type call struct {
	handler *Handler
	w       http.ResponseWriter
	r       *http.Request
	secure  bool // it came through TLS
	id      string
	now     time.Time
	query   url.Values
	target  target
	rule    *wire.Rule // of CORS, for this request; nil for none
	body    []byte
	status  int // 0 before the answer
}

// send answers. A body is XML.
func (c *call) send(status int, body []byte) {
	header := c.w.Header()
	header.Set("Cache-Control", "no-cache")
	if len(body) > 0 {
		header.Set("Content-Type", "application/xml")
	}
	if c.rule != nil {
		allowOrigin(header, c.rule, c.r.Header.Get("Origin"))
	}
	c.status = status
	c.w.WriteHeader(status)
	_, _ = c.w.Write(body) // a client that has gone does not matter
}

// readBody reads what was sent and verifies it.
func (c *call) readBody() error {
	body, err := io.ReadAll(io.LimitReader(c.r.Body, wire.MaxBody+1))
	if err != nil {
		return errors.Join(wire.InvalidXML.With("Reason", "the body ended early"), err)
	}
	if len(body) > wire.MaxBody {
		_, _ = io.CopyN(io.Discard, c.r.Body, drainLimit)
		return wire.BodyTooLarge.With("MaxLimit", strconv.Itoa(wire.MaxText))
	}
	c.body = body
	if header := c.r.Header.Get("Content-Md5"); header != "" {
		sum, err := base64.StdEncoding.DecodeString(header)
		if err != nil || len(sum) != md5.Size {
			return wire.InvalidMD5
		}
		if got := md5.Sum(body); !bytes.Equal(got[:], sum) { //nolint:gosec // as above
			return wire.MD5Mismatch
		}
	}
	return nil
}

// integer reads a query parameter.
func (c *call) integer(name string, otherwise, low, high int) (int, error) {
	text := c.query.Get(name)
	if text == "" {
		return otherwise, nil
	}
	number, err := strconv.Atoi(text)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return 0, wire.InvalidParameter.With("QueryParameterName", name).With("QueryParameterValue", text).
			With("Reason", "Value must be a number.")
	case err != nil || number < low || number > high:
		return 0, wire.OutOfRangeParameter.With("QueryParameterName", name).With("QueryParameterValue", text).
			With("MinimumAllowed", strconv.Itoa(low)).With("MaximumAllowed", strconv.Itoa(high))
	}
	return number, nil
}

// seconds reads a query parameter as a duration.
func (c *call) seconds(name string, otherwise, low, high int) (time.Duration, error) {
	number, err := c.integer(name, otherwise, low, high)
	return time.Duration(number) * time.Second, err
}

// isPrintable reports whether a text has only visible ASCII characters and spaces.
func isPrintable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
