package storagequeue

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/integration/emulator/internal/spelling"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/wire"
)

// maxMetadata is the length of all names and values of a queue's metadata together.
const maxMetadata = 8 << 10

func (c *call) createQueue() error {
	metadata, err := c.metadata()
	if err != nil {
		return err
	}
	created, err := c.handler.store.CreateQueue(c.target.name(), metadata)
	if err != nil {
		return err
	}
	if created {
		c.send(http.StatusCreated, nil)
	} else {
		c.send(http.StatusNoContent, nil)
	}
	return nil
}

func (c *call) deleteQueue() error {
	return c.done(c.handler.store.DeleteQueue(c.target.name()))
}

func (c *call) getMetadata() error {
	queue, err := c.handler.store.Queue(c.target.name(), c.now)
	if err != nil {
		return err
	}
	header := c.w.Header()
	header.Set("X-Ms-Approximate-Messages-Count", strconv.Itoa(queue.Messages))
	for name, value := range queue.Metadata {
		header[metaPrefix+name] = []string{value} // not Set: the name stays as it was written
	}
	c.send(http.StatusOK, nil)
	return nil
}

func (c *call) setMetadata() error {
	metadata, err := c.metadata()
	if err != nil {
		return err
	}
	return c.done(c.handler.store.SetMetadata(c.target.name(), metadata))
}

func (c *call) getPolicies() error {
	queue, err := c.handler.store.Queue(c.target.name(), c.now)
	if err != nil {
		return err
	}
	c.send(http.StatusOK, wire.Policies(queue.Policies))
	return nil
}

func (c *call) setPolicies() error {
	policies, err := wire.ParsePolicies(c.body)
	if err != nil {
		return err
	}
	return c.done(c.handler.store.SetPolicies(c.target.name(), policies))
}

// done answers that something was carried out, unless it was not.
func (c *call) done(err error) error {
	if err == nil {
		c.send(http.StatusNoContent, nil)
	}
	return err
}

// metadata reads the metadata in the headers of a request.
func (c *call) metadata() (map[string]string, error) {
	metadata := map[string]string{}
	length := 0
	for header, values := range c.r.Header {
		lower, ok := strings.CutPrefix(strings.ToLower(header), metaPrefix)
		if !ok {
			continue
		}
		value := strings.Join(values, ",")
		switch {
		case lower == "":
			return nil, wire.EmptyMetadataKey
		case !isIdentifier(lower) || !isPrintable(value):
			return nil, wire.InvalidMetadata.With("HeaderName", metaPrefix+lower)
		}
		if length += len(lower) + len(value); length > maxMetadata {
			return nil, wire.MetadataTooLarge
		}
		name := spelling.Of(c.r.Context(), metaPrefix+lower)[len(metaPrefix):]
		metadata[name] = value
	}
	if len(metadata) == 0 {
		return nil, nil //nolint:nilnil // no metadata is not an error
	}
	return metadata, nil
}

// metaPrefix is what the headers of metadata begin with. The service gives names back as they were written.
const metaPrefix = "x-ms-meta-"

// isIdentifier reports whether a name could be one in C#.
func isIdentifier(name string) bool {
	for i, c := range []byte(name) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}
