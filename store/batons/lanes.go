package batons

import (
	"context"
	"hash/crc32"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store/conn"
)

// Batons stores batons by lane and delivers those that are due. It is safe for concurrent use.
type Batons struct {
	conn   *conn.Conn
	lanes  int
	timers []jetstream.Stream
	asked  atomic.Int64 // batons requested but not delivered, in all lanes
}

// New returns the batons on a connection. It does no I/O.
func New(c *conn.Conn) *Batons { return &Batons{conn: c} }

// Lanes returns the number of lanes.
func (s *Batons) Lanes() int { return s.lanes }

// Open opens the baton streams, one for each lane.
func (s *Batons) Open(ctx context.Context) error {
	for lane := range s.lanes {
		n := strconv.Itoa(lane)
		st, err := s.conn.OpenQueue(ctx, jetstream.StreamConfig{
			Name: s.stream(lane), Description: "Carillon: batons of lane " + n,
			Subjects:          []string{s.conn.Config.Prefix + ".timer." + n + ".>", s.conn.Config.Prefix + ".fire." + n + ".>"},
			AllowMsgSchedules: true,
		}, func(wait time.Duration) jetstream.ConsumerConfig { return s.laneConsumer(lane, wait) })
		if err != nil {
			return err
		}
		s.timers = append(s.timers, st)
	}
	return nil
}

// AckSubjects returns a subject on which delivered batons are acknowledged, in its two forms; see [conn.ReadDelivered].
// Without permission for either, every baton would be redelivered endlessly.
func (s *Batons) AckSubjects() (short, long string) {
	of := s.stream(0) + "." + conn.Workers + ".1.1.1.1.0"
	return "$JS.ACK." + of, "$JS.ACK._.account." + of + ".any"
}

// Lane returns the lane of a job, a hash of its name, which is stable across replicas and restarts.
func (s *Batons) Lane(k scheduler.Key) int {
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

// TimerSubject returns the subject of a slot's waiting baton: carillon.timer.<lane>.<collection>.<job>.
func (s *Batons) TimerSubject(slot scheduler.BatonKey) string { return s.batonSubject("timer", slot) }

// FireSubject returns the subject of a slot's running baton: carillon.fire.<lane>.<collection>.<job>.
func (s *Batons) FireSubject(slot scheduler.BatonKey) string { return s.batonSubject("fire", slot) }

func (s *Batons) batonSubject(kind string, slot scheduler.BatonKey) string {
	b := make([]byte, 0, 128)
	b = append(b, s.conn.Config.Prefix...)
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
func (s *Batons) slotOf(subject string) (scheduler.BatonKey, bool) {
	rest, ok := strings.CutPrefix(subject, s.conn.Config.Prefix)
	if n := strings.Count(rest, "."); !ok || n != 4 && n != 5 || rest[0] != '.' {
		return scheduler.BatonKey{}, false
	}
	_, rest, _ = strings.Cut(rest[1:], ".") // kind
	_, rest, _ = strings.Cut(rest, ".")     // lane
	var slot scheduler.BatonKey
	slot.Collection, rest, _ = strings.Cut(rest, ".")
	slot.Job, slot.Detached, _ = strings.Cut(rest, ".")
	return slot, true
}

// stream returns the name of the stream of a lane.
func (s *Batons) stream(lane int) string { return s.conn.Config.Stream(conn.TimersStream(lane)) }
