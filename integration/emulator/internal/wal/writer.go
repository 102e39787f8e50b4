package wal

// write is the writer: it writes what is pending, all at once, until the log is closed.
func (l *Log) write() {
	defer close(l.written)
	var batch []byte
	l.mu.Lock()
	for {
		for len(l.pending) == 0 && l.cut == nil && !l.closing {
			l.wake.Wait()
		}
		if len(l.pending) == 0 && l.cut == nil {
			l.fail(errClosed)
			l.mu.Unlock()
			return
		}
		batch, l.pending = l.pending, batch[:0]
		c := l.cut
		l.cut = nil
		begin, end := l.done, l.next
		l.mu.Unlock()

		err := l.flush(batch, begin, c)
		if cap(batch) > keptBatch {
			batch = nil
		}

		l.mu.Lock()
		if err != nil {
			l.pending = nil
			l.fail(err)
			l.mu.Unlock()
			return
		}
		l.done = end
		l.confirm()
	}
}

// keptBatch is how large a buffer is kept for the next batch.
const keptBatch = 4 << 20

// flush writes a batch that begins at a position, and does what is to be done at the cut, nil for none.
func (l *Log) flush(batch []byte, begin Position, c *cut) error {
	if c != nil {
		err := l.writeOut(batch[:c.at])
		if err == nil {
			err = c.do(begin + Position(c.at))
		}
		c.done <- err
		if err != nil {
			return err
		}
		batch = batch[c.at:]
	}
	return l.writeOut(batch)
}

func (l *Log) writeOut(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if _, err := l.file.Write(b); err != nil {
		return err
	}
	if l.config.Sync {
		return l.file.Sync()
	}
	return nil
}

// atCut orders something to be done after all that has been appended. The lock is held. The channel gets the error.
func (l *Log) atCut(do func(Position) error) <-chan error {
	done := make(chan error, 1)
	if l.err != nil {
		done <- l.err
		return done
	}
	l.cut = &cut{len(l.pending), do, done}
	l.wake.Signal()
	return done
}

// confirm calls those who wait for what is written. The lock is held, but not during the calls.
func (l *Log) confirm() {
	waiters := l.waiters
	l.waiters = nil
	done := l.done
	l.mu.Unlock()
	kept := waiters[:0]
	for _, w := range waiters {
		if w.position <= done {
			w.call(nil)
		} else {
			kept = append(kept, w)
		}
	}
	l.mu.Lock()
	l.waiters = append(kept, l.waiters...)
}

// fail tells all who wait that it was in vain. The lock is held, but not during the calls.
func (l *Log) fail(err error) {
	l.err = err
	waiters, c := l.waiters, l.cut
	l.waiters, l.cut = nil, nil
	l.mu.Unlock()
	for _, w := range waiters {
		w.call(err)
	}
	if c != nil {
		c.done <- err
	}
	l.mu.Lock()
}
