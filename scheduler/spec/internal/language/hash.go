package language

import "hash/crc32"

// Hash stands for a job's name where a schedule leaves a position to it: an H of dsari's cron, a part that a dsari
// RRULE does not name. It spreads jobs evenly and gives the same job the same position for ever.
//
// The values are those of croniter 6.3, so that jobs which move here keep their times: position i of a field is
// (crc32(name) >> field) modulo the number of values.
type Hash uint32

// HashField is a field whose position may be hashed. Its value is how far the hash is shifted for it, so that the
// fields of a job are not all alike.
type HashField uint

// The fields, in the order of a line of cron.
const (
	HashMinute HashField = iota
	HashHour
	HashDay
	HashMonth
	HashWeekday
	HashSecond
)

// HashOf returns the hash of a job's name: the CRC-32 (IEEE) of its UTF-8 bytes.
func HashOf(name string) Hash { return Hash(crc32.ChecksumIEEE([]byte(name))) }

// Pick returns the job's value for a field, out of lo…hi.
func (h Hash) Pick(field HashField, lo, hi int) int {
	return lo + int(uint32(h>>field)%uint32(hi-lo+1))
}

// Step returns the first of the job's values, each n apart, for a field of lo…hi. The others follow up to hi.
func (h Hash) Step(field HashField, lo, hi, n int) (first int) {
	return h.Pick(field, lo, lo+min(n-1, hi-lo))
}
