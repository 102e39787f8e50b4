package spec

import "hash/crc32"

// hash stands for a job's name where a schedule leaves a position to it: an H of dsari's cron, a part that a dsari RRULE
// does not name. It spreads jobs evenly and gives the same job the same position for ever (seed 003).
//
// The values are those of croniter 6.3, so that jobs which move here keep their times: position i of a field is
// (crc32(name) >> field) modulo the number of values.
type hash uint32

// hashField is a field whose position may be hashed. Its value is how far the hash is shifted for it, so that the fields
// of a job are not all alike.
type hashField uint

const (
	hashMinute hashField = iota
	hashHour
	hashDay
	hashMonth
	hashWeekday
	hashSecond
)

// hashOf returns the hash of a job's name: the CRC-32 (IEEE) of its UTF-8 bytes.
func hashOf(name string) hash { return hash(crc32.ChecksumIEEE([]byte(name))) }

// pick returns the job's value for a field, out of lo…hi.
func (h hash) pick(field hashField, lo, hi int) int {
	return lo + int(uint32(h>>field)%uint32(hi-lo+1))
}

// step returns the first of the job's values, each n apart, for a field of lo…hi. The others follow up to hi.
func (h hash) step(field hashField, lo, hi, n int) (first int) {
	return h.pick(field, lo, lo+min(n-1, hi-lo))
}
