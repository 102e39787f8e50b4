package protocol

import (
	"encoding/binary"
	"slices"
	"sync/atomic"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

// maxTransactions limits the open transactions of a connection.
const maxTransactions = 1000

// transactionTime limits the duration of a transaction, as in the service.
const transactionTime = 2 * time.Minute

// transactions are the open transactions of a connection by their ids. They are guarded by conn.mu.
type transactions map[string]transaction

// A transaction is rolled back after its timeout.
type transaction struct {
	*broker.Txn

	timer *time.Timer
}

// find returns the transaction of an id; no id is no transaction.
func (t transactions) find(id []byte) (*broker.Txn, error) {
	if id == nil {
		return nil, nil //nolint:nilnil // no transaction is what the broker takes for none
	}
	txn, ok := t[string(id)]
	if !ok {
		return nil, amqp.Errorf(condUnknownTxn, "The transaction is unknown, or has ended. It may take %.0f minutes.",
			transactionTime.Minutes())
	}
	return txn.Txn, nil
}

// abandon rolls all transactions back.
func (t transactions) abandon() {
	for _, txn := range t {
		txn.timer.Stop()
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
		d.end(amqp.Errorf(broker.ResourceLimitExceeded, "too many transactions are open"))
		return
	}
	id := binary.BigEndian.AppendUint64(nil, lastTransaction.Add(1))
	timer := k.conn.later(transactionTime, func() { k.abandon(string(id)) })
	k.conn.txns[string(id)] = transaction{k.conn.server.config.Broker.Begin(), timer}
	k.own = append(k.own, string(id))
	d.answer(amqp.Declared{TxnID: id})
}

func (k *coordinator) discharge(d *inDelivery, asked amqp.Discharge) {
	txn, err := k.conn.txns.find(asked.TxnID)
	if err == nil && txn == nil {
		err = amqp.Errorf(condUnknownTxn, "a discharge without the id of a transaction")
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

// abandon rolls a transaction back, if it has not ended yet.
func (k *coordinator) abandon(id string) {
	if txn, ok := k.conn.txns[id]; ok {
		k.forget(id)
		txn.Rollback()
	}
}

func (k *coordinator) forget(id string) {
	k.conn.txns[id].timer.Stop()
	delete(k.conn.txns, id)
	if i := slices.Index(k.own, id); i >= 0 {
		k.own = slices.Delete(k.own, i, i+1)
	}
}

// release rolls back the transactions that the link began and did not end.
func (k *coordinator) release() {
	for _, id := range slices.Clone(k.own) {
		k.abandon(id)
	}
}
