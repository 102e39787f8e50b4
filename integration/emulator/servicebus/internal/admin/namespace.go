package admin

import (
	"cmp"
	"net/http"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

// namespaceInfo describes the only namespace.
type namespaceInfo struct {
	spaces

	Alias          string `xml:"Alias,omitempty"`
	CreatedTime    string `xml:"CreatedTime"`
	MessagingSKU   string `xml:"MessagingSKU"`
	MessagingUnits int    `xml:"MessagingUnits"`
	ModifiedTime   string `xml:"ModifiedTime"`
	Name           string `xml:"Name"`
	NamespaceType  string `xml:"NamespaceType"`
}

// namespaceName is that of Microsoft's emulator.
const namespaceName = "sbemulatorns"

func (q *query) namespace(started time.Time) {
	if q.r.Method != http.MethodGet {
		q.notAllowed()
		return
	}
	writeEntry(q.w, http.StatusOK, q.newEntry("$namespaceinfo", namespaceName, started, started, content{Namespace: &namespaceInfo{
		spaces:         newSpaces(),
		CreatedTime:    stamp(started),
		MessagingSKU:   string(cmp.Or(q.broker.Tier(), broker.Premium)), // which has the fewest quotas
		MessagingUnits: 1,
		ModifiedTime:   stamp(started),
		Name:           namespaceName,
		NamespaceType:  "Messaging",
	}}))
}
