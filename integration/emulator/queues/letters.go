package queues

import (
	"net/http"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
)

// Operations on messages of storage queues: on one, on the selected ones, or on all.

// maxMoved is how many messages one request moves.
const maxMoved = 10_000

// beside returns the names of the account's other queues.
func (r *room) beside(q storagequeue.QueueStatus) []string {
	var all []string
	for _, other := range r.storage().Queues() {
		if other.Account == q.Account && other.Name != q.Name && len(all) < maxListed {
			all = append(all, other.Name)
		}
	}
	return all
}

// confirmLetters asks for confirmation of an operation on messages of the storage queue in the request: on those
// selected, or on all if the request is for all.
func (r *room) confirmLetters(c *frame.Request) (q storagequeue.QueueStatus, v confirmation, marked bool, err error) {
	if q, err = r.queueOf(c); err != nil {
		return q, v, false, err
	}
	ids := c.Request.URL.Query()["id"]
	if marked = c.Query("marked") != ""; marked && len(ids) == 0 {
		return q, v, marked, noneMarked(c)
	}
	v = confirmation{
		Steps: storeCrumbs(q), Back: storeAddress(q), Count: int64(q.Messages),
		Fields: [][2]string{{"account", q.Account}, {"queue", q.Name}},
	}
	for _, id := range ids {
		v.Fields = append(v.Fields, [2]string{"id", id})
	}
	if marked {
		v.Count = int64(len(ids))
	}
	return q, v, marked, nil
}

// confirmRemove asks before messages that were selected are deleted.
func (r *room) confirmRemove(c *frame.Request) error {
	q, v, marked, err := r.confirmLetters(c)
	if err != nil {
		return err
	}
	if !marked {
		return c.Redirect(storeAddress(q))
	}
	v.Text, v.Hint, v.Action = many(c, "queues.purge.marked", v.Count, q.Name), c.Text("queues.clear.hint"), Path+"/storage/delete"
	v.Button, v.Danger = many(c, "queues.purge.button", v.Count), true
	return confirmPage.show(c, 0, c.Text("queues.letters.delete.title", q.Name), v)
}

// each calls do for each message in a form, and returns how many were processed and how many no longer exist.
// For a single message, a missing one is an error.
func (r *room) each(c *frame.Request, do func(id string) error) (done, gone int, err error) {
	ids := c.Request.PostForm["id"]
	if len(ids) == 0 {
		return 0, 0, noneMarked(c)
	}
	for _, id := range ids {
		switch err := do(id); {
		case err == nil:
			done++
		case missing(err) && len(ids) > 1:
			gone++
		default:
			return done, gone, err
		}
	}
	return done, gone, nil
}

// removeLetters deletes the messages that a form names.
func (r *room) removeLetters(c *frame.Request) error {
	return r.change(c, func(q storagequeue.QueueStatus) (string, error) {
		done, gone, err := r.each(c, func(id string) error { return r.storage().Delete(q.Account, q.Name, id) })
		if len(c.Request.PostForm["id"]) == 1 {
			return c.Text("queues.letter.deleted"), err
		}
		return many(c, "queues.purged", done) + besides(c, gone), err
	})
}

// besides says how many messages were skipped because they no longer exist.
func besides(c *frame.Request, gone int) string {
	if gone == 0 {
		return ""
	}
	return " " + many(c, "queues.letters.gone", gone)
}

// confirmMove asks where messages are moved to: those that were selected, or all.
func (r *room) confirmMove(c *frame.Request) error {
	q, v, marked, err := r.confirmLetters(c)
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
	return confirmPage.show(c, 0, c.Text("queues.move.title", q.Name), v)
}

// nowhere refuses to move messages into a queue that is not there.
func nowhere(c *frame.Request, text string) error {
	return frame.Problem{Status: http.StatusNotFound, Text: text, Hint: c.Text("queues.move.nowhere.hint")}
}

// moveLetters moves the messages in a form, or all, to another queue: the one in the form, or else their
// original one.
func (r *room) moveLetters(c *frame.Request) error {
	return r.change(c, func(q storagequeue.QueueStatus) (string, error) {
		form := c.Request.PostForm
		to := form.Get("to")
		if to == "" {
			to = strings.TrimSuffix(q.Name, poisonSuffix)
		}
		if !slices.Contains(r.beside(q), to) {
			return "", nowhere(c, c.Text("queues.move.missing", to, q.Account))
		}
		if form.Get("all") != "" {
			n, err := r.storage().MoveAll(q.Account, q.Name, to, maxMoved)
			return many(c, "queues.move.done", n, to), err
		}
		done, gone, err := r.each(c, func(id string) error { return r.storage().Move(q.Account, q.Name, id, to) })
		if len(form["id"]) == 1 {
			return c.Text("queues.letter.moved", to), err
		}
		return many(c, "queues.move.done", done, to) + besides(c, gone), err
	})
}
