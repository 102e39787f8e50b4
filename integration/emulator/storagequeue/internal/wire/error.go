package wire

import (
	"encoding/xml"
	"net/http"
	"slices"
	"strings"
	"time"
)

// An Error is an answer that is not a success. Its text is the service's own.
type Error struct {
	Status  int
	Code    string // for machines; also the header x-ms-error-code
	Message string
	Details []Detail // elements after the message, in order
}

// A Detail is an element of an error's body beyond code and message.
type Detail struct {
	XMLName xml.Name
	Value   string `xml:",chardata"`
}

func newDetail(name, value string) Detail { return Detail{xml.Name{Local: name}, value} }

func (e Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Code + ": " + e.Message)
	for _, detail := range e.Details {
		b.WriteString("; " + detail.XMLName.Local + ": " + detail.Value)
	}
	return b.String()
}

// With returns the error with one more detail.
func (e Error) With(name, value string) Error {
	e.Details = append(slices.Clip(e.Details), newDetail(name, value))
	return e
}

// Body is the error as the service answers it.
func (e Error) Body(requestID string, now time.Time) []byte {
	return body(struct {
		XMLName       xml.Name `xml:"Error"`
		Code, Message string
		Details       []Detail
	}{Code: e.Code, Message: e.Message + "\nRequestId:" + requestID + "\nTime:" + ISOTime(now), Details: e.Details})
}

func fault(status int, code, message string) Error {
	return Error{Status: status, Code: code, Message: message}
}

func badRequest(code, message string) Error { return fault(http.StatusBadRequest, code, message) }
func forbidden(code, message string) Error  { return fault(http.StatusForbidden, code, message) }
func notFound(code, message string) Error   { return fault(http.StatusNotFound, code, message) }

// The errors of a request as such.
var (
	InvalidURI      = badRequest("InvalidUri", "The requested URI does not represent any resource on the server.")
	UnsupportedVerb = fault(http.StatusMethodNotAllowed, "UnsupportedHttpVerb", "The resource doesn't support specified Http Verb.")
	InvalidHeader   = badRequest("InvalidHeaderValue", "The value for one of the HTTP headers is not in the correct format.")
	InvalidMD5      = badRequest("InvalidMd5",
		"The MD5 value specified in the request is invalid. The MD5 value must be 128 bits and Base64-encoded.")
	MD5Mismatch = badRequest("Md5Mismatch",
		"The MD5 value specified in the request did not match with the MD5 value calculated by the server.")
	BodyTooLarge = fault(http.StatusRequestEntityTooLarge, "RequestBodyTooLarge",
		"The request body is too large and exceeds the maximum permissible limit.")
	InternalError = fault(http.StatusInternalServerError, "InternalError",
		"The server encountered an internal error. Please retry the request.")
	InvalidParameter = badRequest("InvalidQueryParameterValue",
		"Value for one of the query parameters specified in the request URI is invalid.")
	OutOfRangeParameter = badRequest("OutOfRangeQueryParameterValue",
		"One of the query parameters specified in the request URI is outside the permissible range.")
	MissingParameter = badRequest("MissingRequiredQueryParameter", "A query parameter that's mandatory for this request is not specified.")
	InvalidMarker    = badRequest("InvalidMarker", "The specified marker is invalid.")
	InvalidXML       = badRequest("InvalidXmlDocument", "XML specified is not syntactically valid.")
	InvalidNode      = badRequest("InvalidXmlNodeValue", "The value for one of the XML nodes is not in the correct format.")
	MissingNode      = badRequest("MissingRequiredXmlNode",
		"An XML node that's mandatory for this request is not specified in the request body.")
	UnsupportedNode      = badRequest("UnsupportedXmlNode", "One of the XML nodes specified in the request body is not supported.")
	EmptyMetadataKey     = badRequest("EmptyMetadataKey", "The key for one of the metadata key-value pairs is empty.")
	InvalidMetadata      = badRequest("InvalidMetadata", "The metadata specified is invalid. It has characters that are not permitted.")
	MetadataTooLarge     = badRequest("MetadataTooLarge", "The metadata specified exceeds the maximum permissible limit (8KB).")
	ReadOnly             = forbidden("InsufficientAccountPermissions", "Write operations are not allowed.")
	CORSPreflightFailure = forbidden("CorsPreflightFailure", "CORS not enabled or no matching rule found for this request.")
	ForeignPage          = forbidden("AuthorizationFailure",
		"A page of another origin has sent this request, and no CORS rule of the account lets it.")
	UnknownHost = fault(http.StatusMisdirectedRequest, "UnknownHost",
		"The host is none of this server's names; start it with --allowed-host if it is.")
	InvalidResourceName = badRequest("InvalidResourceName", "The specified resource name contains invalid characters.")
	OutOfRangeName      = badRequest("OutOfRangeInput", "The specified resource name length is not within the permissible limits.")
	ResourceNotFound    = notFound("ResourceNotFound", "The specified resource does not exist.")
	QueueNotFound       = notFound("QueueNotFound", "The specified queue does not exist.")
	QueueAlreadyExists  = fault(http.StatusConflict, "QueueAlreadyExists", "The specified queue already exists.")
	MessageNotFound     = notFound("MessageNotFound", "The specified message does not exist.")
	PopReceiptMismatch  = badRequest("PopReceiptMismatch",
		"The specified pop receipt did not match the pop receipt for a dequeued message.")
)

// Authorization errors.
var (
	NoAuthentication = fault(http.StatusUnauthorized, "NoAuthenticationInformation",
		"Server failed to authenticate the request. Please refer to the information in the www-authenticate header.")
	InvalidAuthentication = badRequest("InvalidAuthenticationInfo",
		"Authentication information is not given in the correct format. Check the value of Authorization header.")
	AuthenticationFailed = fault(http.StatusForbidden, "AuthenticationFailed",
		"Server failed to authenticate the request. Make sure the value of Authorization header is formed correctly "+
			"including the signature.")
	PermissionMismatch = forbidden("AuthorizationPermissionMismatch",
		"This request is not authorized to perform this operation using this permission.")
	NotAuthorized    = forbidden("AuthorizationFailure", "This request is not authorized to perform this operation.")
	ProtocolMismatch = forbidden("AuthorizationProtocolMismatch",
		"This request is not authorized to perform this operation using this protocol.")
	ResourceTypeMismatch = forbidden("AuthorizationResourceTypeMismatch",
		"This request is not authorized to perform this operation using this resource type.")
	ServiceMismatch = forbidden("AuthorizationServiceMismatch",
		"This request is not authorized to perform this operation using this service.")
	SourceIPMismatch = forbidden("AuthorizationSourceIPMismatch",
		"This request is not authorized to perform this operation using this source IP.")
)
