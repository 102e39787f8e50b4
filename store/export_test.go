package store

// ScanBeyond makes listings read the messages where there are more than n subjects, and not the server's index, as they do
// where the index has more than a page.
func (s *Store) ScanBeyond(n uint64) { s.indexPage = n }

// Streams returns the names of the streams that are resized, and whose leaders are spread.
func (s *Store) Streams() []string { return s.streams() }
