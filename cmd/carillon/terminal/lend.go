package terminal

// Lend lets another program have the terminal while do lasts. A Ctrl-C that is
// pressed then is for that program.
func (t *Terminal) Lend(do func() error) error {
	t.lent.Store(true)
	defer t.lent.Store(false)
	return do()
}

// Lent reports whether another program has the terminal.
func (t *Terminal) Lent() bool { return t.lent.Load() }
