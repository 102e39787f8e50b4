package scheduler

import (
	"strings"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// addressMembers are the members of an action's message that say where it goes, the wider place first.
var addressMembers = []string{"uri", "storageAccount", "namespace", "topicPath", "queueName", "subject"}

// Address is what the job's action is sent to, for people who look for it: the host of a request, the account and queue, the
// namespace and queue or topic, or the subject of a message. It has no secret. "" when nothing of this is said.
func (d *Definition) Address() string {
	action, _ := d.Document().Member("action")
	return addressOf(action)
}

func addressOf(action document.Value) string {
	for _, m := range action.Members() {
		if m.Name == "errorAction" || m.Name == "retryPolicy" {
			continue
		}
		var parts []string
		for _, name := range addressMembers {
			v, ok := m.Value.Member(name)
			text := v.Text()
			if name == "uri" && ok {
				text = hostOf(text)
			}
			if ok && text != "" && !v.IsSecret() {
				parts = append(parts, text)
			}
		}
		if parts != nil {
			return strings.Join(parts, "/")
		}
	}
	return ""
}

// hostOf returns the host of a URI with its port: what else there is may be a secret.
func hostOf(uri string) string {
	if _, rest, ok := strings.Cut(uri, "://"); ok {
		uri = rest
	}
	if end := strings.IndexAny(uri, "/?#"); end >= 0 {
		uri = uri[:end]
	}
	return uri[strings.LastIndexByte(uri, '@')+1:]
}
