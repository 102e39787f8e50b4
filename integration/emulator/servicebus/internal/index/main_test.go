package index

// A message is what the tests put into everything.
type message struct {
	seq   int64
	due   int64
	index int32
}

func (m *message) Number() int64 { return m.seq }
func (m *message) When() int64   { return m.due }
func (m *message) Place() *int32 { return &m.index }
