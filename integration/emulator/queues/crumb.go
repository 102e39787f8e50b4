package queues

import (
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/browse"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
)

// What follows is where pages lead back to: address and text of each step.

// titled is a path for headings: that of a subscription can be broken between its topic and its name.
func titled(path string) string { return strings.Replace(path, "/Subscriptions/", " / ", 1) }

// crumbs leads to an entity.
func crumbs(e browse.Entity) [][2]string {
	var steps [][2]string
	if e.Topic != "" {
		steps = append(steps, [2]string{address("/entity", "at", e.Topic), e.Topic})
	}
	return append(steps, [2]string{address("/entity", "at", e.Path), e.Name})
}

// Crumbs leads back from an entity: from a subscription to its topic.
func (v *entityView) Crumbs() [][2]string {
	steps := crumbs(v.Entity)
	return steps[:len(steps)-1]
}

// Crumbs leads back from a message.
func (v messageView) Crumbs() [][2]string {
	steps := crumbs(v.Entity)
	steps[len(steps)-1][0] = address("/entity", "at", v.At, "part", v.Part)
	return steps
}

// Address is that of the message, without a view.
func (v messageView) Address() string {
	return messageAddress(v.At, browse.Part(v.Part), v.Message.Sequence)
}

// Download is where the body is.
func (v messageView) Download() string {
	return Path + "/body" + v.Address()[len(Path+"/message"):]
}

// Crumbs leads back from an operation.
func (p progress) Crumbs() [][2]string { return [][2]string{{p.Back(), titled(p.Path)}} }

// Crumbs leads back from a form.
func (v draftView) Crumbs() [][2]string { return crumbs(v.Entity) }

// BodyKinds are the ways in which a body can be written.
func (v draftView) BodyKinds() []string { return []string{asText, asBase64, asHex} }

// TypesWith are the types that a property may have, and the one that it has.
func (v draftView) TypesWith(own string) []string {
	if own == "" || slices.Contains(v.Types, own) {
		return v.Types
	}
	return append([]string{own}, v.Types...)
}

// Crumbs leads back from the rules.
func (v *rulesView) Crumbs() [][2]string { return crumbs(v.Entity) }

// storeCrumbs leads to a storage queue.
func storeCrumbs(q storagequeue.QueueStatus) [][2]string {
	return [][2]string{{storeAddress(q), q.Account + "/" + q.Name}}
}

// Crumbs leads back from a message.
func (v letterView) Crumbs() [][2]string { return storeCrumbs(v.Queue) }

// Address is that of the message, without a view.
func (v letterView) Address() string {
	return address("/storage/message", "account", v.Queue.Account, "queue", v.Queue.Name, "id", v.Letter.ID)
}

// Download is where the text is.
func (v letterView) Download() string {
	return address("/storage/body", "account", v.Queue.Account, "queue", v.Queue.Name, "id", v.Letter.ID)
}

// Crumbs leads back from the form.
func (v putView) Crumbs() [][2]string { return storeCrumbs(v.Queue) }

// Back is where the form is left to.
func (v putView) Back() string { return storeAddress(v.Queue) }
