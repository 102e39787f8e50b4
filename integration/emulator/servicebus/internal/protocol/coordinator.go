package protocol

import (
	"encoding/binary"
	"slices"
	"sync/atomic"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

// maxTransactions is how many transactions a connection may have open.
const maxTransactions = 1000

// transactions are the open transactions of a connection by their ids. They are guarded by conn.mu.
type transactions map[string]*broker.Txn

// find returns the transaction of an id; no id is no transaction.
func (t transactions) find(id []byte) (*broker.Txn, error) {
	if id == nil {
		return nil, nil //nolint:nilnil // no transaction is what the broker takes for none
	}
	txn := t[string(id)]
	if txn == nil {
		return nil, &amqp.Error{Condition: condUnknownTxn, Description: "The transaction is unknown, or has ended."}
	}
	return txn, nil
}

// abandon rolls all transactions back.
func (t transactions) abandon() {
	for _, txn := range t {
		txn.Rollback()
	}
	clear(t)
}

// lastTransaction makes the ids of transactions unique.
var lastTransaction atomic.Uint64

// A coordinator begins and ends transactions. It is the sink of the link that controls them; when that ends, so do they.
type coordinator struct {
	conn *conn
	own  []string // ids of the transactions that the link began
}

func (k *coordinator) take(d *inDelivery) {
	var asked any
	m, err := amqp.ParseMessage(d.payload)
	if err == nil {
		asked, err = amqp.ParseRequest(m)
	}
	if err != nil {
		d.end(undecodable(err))
		return
	}
	switch asked := asked.(type) {
	case amqp.Declare:
		k.declare(d)
	case amqp.Discharge:
		k.discharge(d, asked)
	}
}

func (k *coordinator) declare(d *inDelivery) {
	if len(k.conn.txns) >= maxTransactions {
		d.end(&amqp.Error{Condition: condLimit, Description: "too many transactions are open"})
		return
	}
	id := binary.BigEndian.AppendUint64(nil, lastTransaction.Add(1))
	k.conn.txns[string(id)] = k.conn.server.config.Broker.Begin()
	k.own = append(k.own, string(id))
	d.answer(amqp.Declared{TxnID: id})
}

func (k *coordinator) discharge(d *inDelivery, asked amqp.Discharge) {
	txn, err := k.conn.txns.find(asked.TxnID)
	if err == nil && txn == nil {
		err = &amqp.Error{Condition: condUnknownTxn, Description: "a discharge without the id of a transaction"}
	}
	if err != nil {
		d.end(err)
		return
	}
	k.forget(string(asked.TxnID))
	if asked.Fail {
		txn.Rollback()
		d.end(nil)
		return
	}
	receipt, err := txn.Commit()
	k.conn.finish(receipt, err, d.end)
}

func (k *coordinator) forget(id string) {
	delete(k.conn.txns, id)
	if i := slices.Index(k.own, id); i >= 0 {
		k.own = slices.Delete(k.own, i, i+1)
	}
}

// release rolls back the transactions that the link began and did not end.
func (k *coordinator) release() {
	for _, id := range k.own {
		if txn := k.conn.txns[id]; txn != nil {
			txn.Rollback()
			delete(k.conn.txns, id)
		}
	}
	k.own = nil
}
