package storagequeue

import (
	"net/http"
	"strings"

	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/wire"
)

// maxListed is the number of queues in a page, at most.
const maxListed = 5000

func (c *call) listQueues() error {
	limit, err := c.integer("maxresults", 0, 1, 1<<31-1)
	if err != nil {
		return err
	}
	include := c.query.Get("include")
	if include != "" && include != "metadata" {
		return wire.InvalidParameter.With("QueryParameterName", "include").With("QueryParameterValue", include)
	}
	marker := c.query.Get("marker")
	from, ok := strings.CutPrefix(marker, "/"+c.target.account+"/")
	if marker != "" && !ok {
		return wire.InvalidMarker
	}
	listing := wire.Listing{Endpoint: c.endpoint(), Prefix: c.query.Get("prefix"), Marker: marker, MaxResults: limit}
	if limit == 0 {
		limit = maxListed
	}
	queues, next := c.handler.store.Queues(c.target.account, listing.Prefix, from, min(limit, maxListed))
	for _, queue := range queues {
		entry := wire.Queue{Name: queue.Name}
		if include != "" {
			entry.Metadata = queue.Metadata
			if entry.Metadata == nil {
				entry.Metadata = map[string]string{}
			}
		}
		listing.Queues = append(listing.Queues, entry)
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
		return wire.InvalidParameter.With("QueryParameterName", "comp").With("QueryParameterValue", "stats").
			With("Reason", "Statistics are at the secondary endpoint.")
	}
	c.send(http.StatusOK, wire.Statistics(c.now))
	return nil
}
