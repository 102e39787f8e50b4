package amqp

// Descriptors of the standard.
const (
	descOpen             = 0x10
	descBegin            = 0x11
	descAttach           = 0x12
	descFlow             = 0x13
	descTransfer         = 0x14
	descDisposition      = 0x15
	descDetach           = 0x16
	descEnd              = 0x17
	descClose            = 0x18
	descError            = 0x1d
	descReceived         = 0x23
	descAccepted         = 0x24
	descRejected         = 0x25
	descReleased         = 0x26
	descModified         = 0x27
	descSource           = 0x28
	descTarget           = 0x29
	descCoordinator      = 0x30
	descDeclare          = 0x31
	descDischarge        = 0x32
	descDeclared         = 0x33
	descTransactional    = 0x34
	descSASLMechanisms   = 0x40
	descSASLInit         = 0x41
	descSASLChallenge    = 0x42
	descSASLResponse     = 0x43
	descSASLOutcome      = 0x44
	descHeader           = 0x70
	descDeliveryAnnots   = 0x71
	descMessageAnnots    = 0x72
	descProperties       = 0x73
	descApplicationProps = 0x74
	descData             = 0x75
	descSequence         = 0x76
	descValue            = 0x77
	descFooter           = 0x78
)

// descriptors are the same by symbol; either form may stand on the wire.
var descriptors = map[Symbol]uint64{
	"amqp:open:list":                  descOpen,
	"amqp:begin:list":                 descBegin,
	"amqp:attach:list":                descAttach,
	"amqp:flow:list":                  descFlow,
	"amqp:transfer:list":              descTransfer,
	"amqp:disposition:list":           descDisposition,
	"amqp:detach:list":                descDetach,
	"amqp:end:list":                   descEnd,
	"amqp:close:list":                 descClose,
	"amqp:error:list":                 descError,
	"amqp:received:list":              descReceived,
	"amqp:accepted:list":              descAccepted,
	"amqp:rejected:list":              descRejected,
	"amqp:released:list":              descReleased,
	"amqp:modified:list":              descModified,
	"amqp:source:list":                descSource,
	"amqp:target:list":                descTarget,
	"amqp:coordinator:list":           descCoordinator,
	"amqp:declare:list":               descDeclare,
	"amqp:discharge:list":             descDischarge,
	"amqp:declared:list":              descDeclared,
	"amqp:transactional-state:list":   descTransactional,
	"amqp:sasl-mechanisms:list":       descSASLMechanisms,
	"amqp:sasl-init:list":             descSASLInit,
	"amqp:sasl-challenge:list":        descSASLChallenge,
	"amqp:sasl-response:list":         descSASLResponse,
	"amqp:sasl-outcome:list":          descSASLOutcome,
	"amqp:header:list":                descHeader,
	"amqp:delivery-annotations:map":   descDeliveryAnnots,
	"amqp:message-annotations:map":    descMessageAnnots,
	"amqp:properties:list":            descProperties,
	"amqp:application-properties:map": descApplicationProps,
	"amqp:data:binary":                descData,
	"amqp:amqp-sequence:list":         descSequence,
	"amqp:amqp-value:*":               descValue,
	"amqp:footer:map":                 descFooter,
}
