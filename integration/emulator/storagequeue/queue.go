package storagequeue

import (
	"cmp"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/internal/spelling"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/store"
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
		header[metaPrefix+name] = []string{value} // not Set, which would change the spelling of the name
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
		case !identifier.MatchString(lower) || !isPrintable(value):
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

// metaPrefix is the prefix of metadata headers. The service returns their names as written.
const metaPrefix = "x-ms-meta-"

// identifier is a name that could be one in C#.
var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// maxListed is the number of queues in a page, at most.
const maxListed = 5000

func (c *call) listQueues() error {
	limit, err := c.integer("maxresults", 0, 1, 1<<31-1)
	if err != nil {
		return err
	}
	include := c.query.Get("include")
	if include != "" && include != "metadata" {
		return invalid(c.query, "include")
	}
	marker := c.query.Get("marker")
	from, ok := strings.CutPrefix(marker, "/"+c.target.account+"/")
	if marker != "" && !ok {
		return wire.InvalidMarker
	}
	listing := wire.Listing{Endpoint: c.endpoint(), Prefix: c.query.Get("prefix"), Marker: marker, MaxResults: limit}
	limit = cmp.Or(limit, maxListed)
	queues, next := c.handler.store.Queues(c.target.account, listing.Prefix, from, min(limit, maxListed))
	for _, queue := range queues {
		entry := wire.Queue{Name: queue.Name}
		if include != "" {
			entry.Metadata = wire.NewMetadata(queue.Metadata)
		}
		listing.Queues.Queue = append(listing.Queues.Queue, entry)
	}
	if next != "" {
		listing.NextMarker = "/" + c.target.account + "/" + next
	}
	c.send(http.StatusOK, listing.Body())
	return nil
}

// endpoint is the URL of the account as the client wrote it.
func (c *call) endpoint() string {
	scheme := "http://"
	if c.secure {
		scheme = "https://"
	}
	if _, ok := accountOfHost(c.r.Host); ok {
		return scheme + c.r.Host + "/"
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(c.r.URL.Path, "/"), "/")
	return scheme + c.r.Host + "/" + first
}

func (c *call) getProperties() error {
	c.send(http.StatusOK, c.handler.store.Properties(c.target.account).Body())
	return nil
}

func (c *call) setProperties() error {
	err := c.handler.store.ChangeProperties(c.target.account, func(old wire.Properties) (wire.Properties, error) {
		return wire.ParseProperties(c.body, old)
	})
	if err != nil {
		return err
	}
	c.send(http.StatusAccepted, nil)
	return nil
}

// getStatistics answers at the secondary only: the copy is in step, since it is the same data.
func (c *call) getStatistics() error {
	if !c.target.secondary {
		return invalid(c.query, "comp").With("Reason", "Statistics are at the secondary endpoint.")
	}
	c.send(http.StatusOK, wire.Statistics(c.now))
	return nil
}

const (
	week           = 7 * 24 * 60 * 60 // seconds; the longest visibility timeout and the default time to live
	defaultTimeout = 30               // seconds for which a received message is hidden
	maxMessages    = 32
)

func (c *call) putMessage() error {
	text, ok, err := wire.ParseMessage(c.body)
	if err != nil {
		return err
	}
	if !ok {
		return wire.InvalidXML.With("Reason", "there is no MessageText")
	}
	hidden, err := c.seconds("visibilitytimeout", 0, 0, week)
	if err != nil {
		return err
	}
	expires, err := c.expires(hidden)
	if err != nil {
		return err
	}
	message, err := c.handler.store.Put(c.target.name(), text, c.now.Add(hidden), expires, c.now)
	if err != nil {
		return err
	}
	c.send(http.StatusCreated, wire.Messages(wire.Put, []wire.Message{message}))
	return nil
}

// expires reads when a message ends, which must be after it becomes visible.
func (c *call) expires(hidden time.Duration) (time.Time, error) {
	seconds, err := c.integer("messagettl", week, -1<<31, 1<<31-1)
	switch {
	case err != nil:
		return time.Time{}, err
	case seconds == -1:
		return wire.Forever, nil
	case seconds < 1:
		return time.Time{}, invalid(c.query, "messagettl").
			With("Reason", "Value must be greater than or equal to 1, or -1 to indicate an infinite TTL.")
	case c.query.Get("messagettl") != "" && int(hidden/time.Second) >= seconds:
		return time.Time{}, invalid(c.query, "visibilitytimeout").
			With("Reason", "messagettl must be greater than visibilitytimeout.")
	}
	expires := c.now.Add(time.Duration(seconds) * time.Second)
	if expires.After(wire.Forever) {
		expires = wire.Forever
	}
	return expires, nil
}

func (c *call) getMessages() error {
	limit, err := c.integer("numofmessages", 1, 1, maxMessages)
	if err != nil {
		return err
	}
	hidden, err := c.seconds("visibilitytimeout", defaultTimeout, 1, week)
	if err != nil {
		return err
	}
	messages, err := c.handler.store.Take(c.target.name(), limit, c.now.Add(hidden), c.now)
	if err != nil {
		return err
	}
	c.send(http.StatusOK, wire.Messages(wire.Taken, messages))
	return nil
}

func (c *call) peekMessages() error {
	limit, err := c.integer("numofmessages", 1, 1, maxMessages)
	if err != nil {
		return err
	}
	messages, err := c.handler.store.Peek(c.target.name(), limit, c.now)
	if err != nil {
		return err
	}
	c.send(http.StatusOK, wire.Messages(wire.Peeked, messages))
	return nil
}

func (c *call) clearMessages() error {
	_, err := c.handler.store.Clear(c.target.name(), c.now)
	return c.done(err)
}

func (c *call) updateMessage() error {
	receipt, err := c.receipt()
	if err != nil {
		return err
	}
	if !c.query.Has("visibilitytimeout") {
		return wire.MissingParameter.With("QueryParameterName", "visibilitytimeout")
	}
	hidden, err := c.seconds("visibilitytimeout", 0, 0, week)
	if err != nil {
		return err
	}
	text, ok, err := wire.ParseMessage(c.body)
	if err != nil {
		return err
	}
	change := &text
	if !ok {
		change = nil
	}
	message, err := c.handler.store.Update(c.target.name(), c.target.message, receipt, change, c.now.Add(hidden), c.now)
	if errors.Is(err, store.ErrTooLate) {
		return wire.OutOfRangeParameter.With("QueryParameterName", "visibilitytimeout").
			With("QueryParameterValue", strconv.Itoa(int(hidden/time.Second))).
			With("Reason", "The message expires before that.")
	}
	if err != nil {
		return err
	}
	c.w.Header().Set("X-Ms-Popreceipt", message.Receipt)
	c.w.Header().Set("X-Ms-Time-Next-Visible", wire.HTTPTime(message.NextVisible))
	c.send(http.StatusNoContent, nil)
	return nil
}

func (c *call) deleteMessage() error {
	receipt, err := c.receipt()
	if err != nil {
		return err
	}
	return c.done(c.handler.store.Delete(c.target.name(), c.target.message, receipt, c.now))
}

// receipt reads the pop receipt, without which a message cannot be changed.
func (c *call) receipt() (string, error) {
	receipt := c.query.Get("popreceipt")
	if receipt == "" {
		return "", wire.MissingParameter.With("QueryParameterName", "popreceipt")
	}
	return receipt, nil
}
