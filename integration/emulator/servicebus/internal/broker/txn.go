package broker

import (
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
)

// A Txn is a transaction over sends and settlements. It may be used from one goroutine at a time.
type Txn struct {
	broker *Broker
	ended  bool
	sends  []txnSend
	ends   []txnSettle
	size   int64

	messages int
	most     int // 0: any number
}

// maxTxn is the maximum size of a transaction's messages in bytes. They become one record of the journal.
const maxTxn = 64 << 20

// txnSend is messages for a target.
type txnSend struct {
	target  *entity
	intakes []intake
}

// txnSettle is the settlement of a message.
type txnSettle struct {
	entity  *entity
	message *message
	nonce   uint64
	outcome Outcome
}

// Begin starts a transaction, which ends with Commit or Rollback. The tier limits its number of messages.
func (b *Broker) Begin() *Txn {
	t := &Txn{broker: b}
	if b.config.Tier != "" {
		t.most = maxTxnMessages
	}
	return t
}

func errTxnEnded() error { return fail(NotAllowed, "The transaction has ended.") }

// send adds messages to the transaction, and checks immediately whether the target accepts them.
func (t *Txn) send(e *entity, intakes []intake) error {
	if t.ended {
		return errTxnEnded()
	}
	if err := e.lock(); err != nil {
		return err
	}
	defer e.unlock()
	if err := e.accepts(intakes, t.pending(e, len(t.sends))); err != nil {
		return err
	}
	if err := t.counts(len(intakes)); err != nil {
		return err
	}
	for _, in := range intakes {
		t.size += in.message.size()
	}
	if t.size > maxTxn {
		return fail(ResourceLimitExceeded, "The messages of a transaction may have %d bytes.", maxTxn)
	}
	t.sends = append(t.sends, txnSend{e, append([]intake{}, intakes...)})
	return nil
}

// counts adds messages to the transaction's number, up to the tier's limit.
func (t *Txn) counts(n int) error {
	if t.most > 0 && t.messages+n > t.most {
		return fail(NotAllowed, "Cannot send more than %d messages in a single transaction.", t.most)
	}
	t.messages += n
	return nil
}

// settle adds a settlement. The entity is locked.
func (t *Txn) settle(m *message, outcome Outcome) error {
	if t.ended {
		return errTxnEnded()
	}
	if err := t.counts(1); err != nil {
		return err
	}
	outcome.Properties = append(amqp.Map{}, outcome.Properties...)
	m.txn = t
	t.ends = append(t.ends, txnSettle{m.queue.entity, m, m.nonce, outcome})
	return nil
}

// Commit applies the whole transaction, or fails with TransactionRollback without any effect; its messages then stay
// locked.
func (t *Txn) Commit() (Receipt, error) {
	if t.ended {
		return Receipt{}, errTxnEnded()
	}
	t.ended = true
	involved := make([]*entity, 0, len(t.sends)+len(t.ends))
	for _, s := range t.sends {
		involved = append(involved, s.target)
	}
	for _, s := range t.ends {
		involved = append(involved, s.entity)
	}
	all := t.broker.lockTargets(involved)
	defer unlockAll(all)
	now := nowMilli()
	if err := t.check(now); err != nil {
		t.forget()
		return Receipt{}, fail(TransactionRollback, "The transaction was rolled back: %s", err)
	}
	en := t.broker.entry()
	for _, s := range t.ends {
		s.message.txn = nil
		s.entity.settle(s.message, s.outcome, now, en)
	}
	for _, s := range t.sends {
		for i := range s.intakes {
			s.target.admit(&s.intakes[i], now, en)
		}
		s.target.accessed = now
		s.target.serve(now, en)
	}
	return t.broker.commit(en), nil
}

// check returns an error if the transaction cannot be committed. All its entities are locked.
func (t *Txn) check(now int64) error {
	for _, s := range t.ends {
		m := s.message
		if s.entity.deleted || m.txn != t || m.nonce != s.nonce || m.lockedUntil <= now {
			return errLockLost()
		}
	}
	for i, s := range t.sends {
		if err := s.target.accepts(s.intakes, t.pending(s.target, i)); err != nil {
			return err
		}
	}
	return nil
}

// pending returns the size of the messages for an entity among the first n sends.
func (t *Txn) pending(e *entity, n int) (size int64) {
	for _, s := range t.sends[:n] {
		if s.target != e {
			continue
		}
		for i := range s.intakes {
			size += s.intakes[i].message.size()
		}
	}
	return size
}

// forget releases the messages. Their entities are locked.
func (t *Txn) forget() {
	for _, s := range t.ends {
		if s.message.txn == t {
			s.message.txn = nil
		}
	}
}

// Rollback drops the transaction. Its messages stay locked.
func (t *Txn) Rollback() {
	if t.ended {
		return
	}
	t.ended = true
	for _, s := range t.ends {
		s.entity.mu.Lock()
		if s.message.txn == t {
			s.message.txn = nil
		}
		s.entity.mu.Unlock()
	}
}
