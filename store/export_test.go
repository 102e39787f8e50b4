package store

// ScanBeyond sets the number of subjects beyond which listings read messages instead of the server's index.
func (s *Store) ScanBeyond(n uint64) { s.conn.IndexPage = n }

// Streams returns the names of the streams that are resized and balanced.
func (s *Store) Streams() []string { return s.conn.Streams() }
