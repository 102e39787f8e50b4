package journal

// Break has every write from now on fail.
func (l *Log) Break() { l.file.Close() }
