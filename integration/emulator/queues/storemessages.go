package queues

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
)

// Operations on messages of storage queues: on one, on the selected ones, or on all.

// maxMoved limits the messages that one request moves.
const maxMoved = 10_000

// beside returns the names of the account's other queues.
func (r *section) beside(q storagequeue.QueueStatus) []string {
	var all []string
	for _, other := range r.storage().Queues() {
		if other.Account == q.Account && other.Name != q.Name && len(all) < maxListed {
			all = append(all, other.Name)
		}
	}
	return all
}

// confirmStoreMessages asks for confirmation of an operation on messages of the storage queue in the request: on those
// selected, or on all if the request is for all.
func confirmStoreMessages(c *frame.Request, q storagequeue.QueueStatus) (v confirmation, marked bool, err error) {
	ids := c.Params("id")["id"]
	if marked = c.Query("marked") != ""; marked && len(ids) == 0 {
		return v, marked, noneMarked(c)
	}
	v = confirmQueue(q)
	v.Count = int64(q.Messages)
	for _, id := range ids {
		v.Fields = append(v.Fields, [2]string{"id", id})
	}
	if marked {
		v.Count = int64(len(ids))
	}
	return v, marked, nil
}

// confirmRemove asks for confirmation before it deletes the selected messages.
func (r *section) confirmRemove(c *frame.Request, q storagequeue.QueueStatus) error {
	v, marked, err := confirmStoreMessages(c, q)
	if err != nil {
		return err
	}
	if !marked {
		return c.Redirect(storeAddress(q))
	}
	v.Text, v.Hint, v.Action = many(c, "queues.purge.marked", v.Count, q.Name), c.Text("queues.clear.hint"), Path+"/storage/delete"
	v.Button, v.Danger = many(c, "queues.purge.button", v.Count), true
	return v.ask(c, c.Text("queues.storemessages.delete.title", q.Name))
}

// each calls do for each message of a form, and returns a note: the text one for a single message, else the text several
// with the numbers of processed and of missing messages. A single missing message is an error.
func each(c *frame.Request, ids []string, do func(id string) error, one, several string, args ...any) (note string, err error) {
	if len(ids) == 0 {
		return "", noneMarked(c)
	}
	done, gone := 0, 0
	for _, id := range ids {
		switch err := do(id); {
		case err == nil:
			done++
		case missing(err) && len(ids) > 1:
			gone++
		default:
			return "", err
		}
	}
	if len(ids) == 1 {
		return c.Text(one, args...), nil
	}
	note = many(c, several, done, args...)
	if gone > 0 {
		note += " " + many(c, "queues.storemessages.gone", gone)
	}
	return note, nil
}

// removeStoreMessages deletes the messages that a form names.
func (r *section) removeStoreMessages(c *frame.Request, form url.Values, q storagequeue.QueueStatus) error {
	remove := func(id string) error { return r.storage().Delete(q.Account, q.Name, id) }
	note, err := each(c, form["id"], remove, "queues.storemessage.deleted", "queues.purged")
	return done(c, err, note, storeAddress(q))
}

// confirmMove asks for the destination of the messages: those that were selected, or all.
func (r *section) confirmMove(c *frame.Request, q storagequeue.QueueStatus) error {
	v, marked, err := confirmStoreMessages(c, q)
	if err != nil {
		return err
	}
	v.Into, v.To = r.beside(q), strings.TrimSuffix(q.Name, poisonSuffix)
	if len(v.Into) == 0 {
		return nowhere(c, c.Text("queues.move.nowhere", q.Account))
	}
	key := "queues.move.all"
	if marked {
		key = "queues.move.marked"
	} else {
		v.Count = min(v.Count, maxMoved)
		v.Fields = append(v.Fields, [2]string{"all", checked})
	}
	v.Text, v.Hint, v.Action = many(c, key, v.Count, q.Name), c.Text("queues.move.hint"), Path+"/storage/move"
	if v.Count == 0 {
		v.Text = c.Text("queues.move.none", q.Name)
	}
	v.Button = many(c, "queues.move.button", v.Count)
	return v.ask(c, c.Text("queues.move.title", q.Name))
}

// nowhere refuses to move messages into a queue that is not there.
func nowhere(c *frame.Request, text string) error {
	return frame.Problem{Status: http.StatusNotFound, Text: text, Hint: c.Text("queues.move.nowhere.hint")}
}

// moveStoreMessages moves the messages in a form, or all, to another queue: the one in the form, or else their
// original one.
func (r *section) moveStoreMessages(c *frame.Request, form url.Values, q storagequeue.QueueStatus) error {
	to := cmp.Or(form.Get("to"), strings.TrimSuffix(q.Name, poisonSuffix))
	if !slices.Contains(r.beside(q), to) {
		return nowhere(c, c.Text("queues.move.missing", to, q.Account))
	}
	if form.Get("all") != "" {
		n, err := r.storage().MoveAll(q.Account, q.Name, to, maxMoved)
		return done(c, err, many(c, "queues.move.done", n, to), storeAddress(q))
	}
	move := func(id string) error { return r.storage().Move(q.Account, q.Name, id, to) }
	note, err := each(c, form["id"], move, "queues.storemessage.moved", "queues.move.done", to)
	return done(c, err, note, storeAddress(q))
}
