package store

import (
	"hash/crc32"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
)

// Lane returns the lane of a job, a hash of its name, which is stable across replicas and restarts.
func (s *Store) Lane(k scheduler.Key) int {
	return int(crcOf(k.Collection, ".", k.Job) % uint32(s.lanes))
}

// crcOf returns the CRC-32 of concatenated strings. Unlike hash/crc32, it does not convert them to bytes on the heap.
func crcOf(parts ...string) uint32 {
	crc := ^uint32(0)
	for _, part := range parts {
		for i := range len(part) {
			crc = crc32.IEEETable[byte(crc)^part[i]] ^ crc>>8
		}
	}
	return ^crc
}

// timerSubject returns the subject of a slot's waiting baton: carillon.timer.<lane>.<collection>.<job>.
func (s *Store) timerSubject(slot scheduler.Slot) string { return s.batonSubject("timer", slot) }

// fireSubject returns the subject of a slot's running baton: carillon.fire.<lane>.<collection>.<job>.
func (s *Store) fireSubject(slot scheduler.Slot) string { return s.batonSubject("fire", slot) }

func (s *Store) batonSubject(kind string, slot scheduler.Slot) string {
	b := make([]byte, 0, 128)
	b = append(b, s.cfg.Prefix...)
	b = append(b, '.')
	b = append(b, kind...)
	b = append(b, '.')
	b = strconv.AppendInt(b, int64(s.Lane(slot.Key)), 10)
	b = append(b, '.')
	b = append(b, slot.Collection...)
	b = append(b, '.')
	b = append(b, slot.Job...)
	if slot.Detached != "" {
		b = append(b, '.')
		b = append(b, slot.Detached...)
	}
	return string(b)
}

// slotOf parses a timer or fire subject.
func (s *Store) slotOf(subject string) (scheduler.Slot, bool) {
	rest, ok := strings.CutPrefix(subject, s.cfg.Prefix)
	if n := strings.Count(rest, "."); !ok || n != 4 && n != 5 || rest[0] != '.' {
		return scheduler.Slot{}, false
	}
	_, rest, _ = strings.Cut(rest[1:], ".") // kind
	_, rest, _ = strings.Cut(rest, ".")     // lane
	var slot scheduler.Slot
	slot.Collection, rest, _ = strings.Cut(rest, ".")
	slot.Job, slot.Detached, _ = strings.Cut(rest, ".")
	return slot, true
}

func (s *Store) historySubject(k scheduler.Key, outcome scheduler.Outcome) string {
	return s.cfg.Prefix + ".history." + k.Collection + "." + k.Job + "." + string(outcome)
}

// historyKey parses a history subject.
func (s *Store) historyKey(subject string) (scheduler.Key, bool) {
	rest, ok := strings.CutPrefix(subject, s.cfg.Prefix+".history.")
	t := strings.Split(rest, ".")
	if !ok || len(t) != 3 {
		return scheduler.Key{}, false
	}
	return scheduler.Key{Collection: t[0], Job: t[1]}, true
}

// jobSubject returns the subject of a job's definition in its key-value bucket.
func (s *Store) jobSubject(k scheduler.Key) string {
	return "$KV." + s.cfg.bucket(jobsBucket) + "." + k.Collection + "." + k.Job
}

// jobKey parses a job subject.
func (s *Store) jobKey(subject string) (scheduler.Key, bool) {
	rest, ok := strings.CutPrefix(subject, "$KV."+s.cfg.bucket(jobsBucket)+".")
	if !ok {
		return scheduler.Key{}, false
	}
	return splitKey(rest)
}

func splitKey(s string) (scheduler.Key, bool) {
	c, j, ok := strings.Cut(s, ".")
	return scheduler.Key{Collection: c, Job: j}, ok && !strings.Contains(j, ".")
}

func timersStream(lane int) string { return "TIMERS_" + strconv.Itoa(lane) }
