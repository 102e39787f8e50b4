package protocol

// skipped is the part of a link's delivery count that drains have used up, for which no message was sent.
//
// A client that drains is told of it and should count on from there. Python's client does not, from version 7.14 on: its count stays
// that of the messages it got. What it lacks would be taken for messages on their way, and it would receive fewer than it asks for, or
// none.
type skipped struct {
	from    uint32 // the count before the last drain
	by      uint32 // what that drain has used up; 0 when the client's next flow has been seen
	ignored uint32 // what all drains have used up that the client did not count
}

// note takes note of a drain that uses up credit at a delivery count.
func (s *skipped) note(count, credit uint32) {
	if credit != 0 {
		s.from, s.by = count, credit
	}
}

// onTheWay returns how many messages the client has not seen yet, by the link's delivery count and the client's.
func (s *skipped) onTheWay(count, seen uint32) uint32 {
	if s.by != 0 {
		if int32(s.from-s.ignored-seen) >= 0 {
			s.ignored += s.by
		}
		s.by = 0
	}
	if s.ignored != 0 && int32(count-s.ignored-seen) < 0 {
		s.ignored = 0 // the client does count drains
	}
	return ahead(count-s.ignored, seen)
}

// ahead returns by how much one serial number of RFC 1982 is ahead of another, and 0 if it is not.
func ahead(a, b uint32) uint32 {
	return uint32(max(int32(a-b), 0))
}
