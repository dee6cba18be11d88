package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"glassbox/engine"
	"glassbox/engine/capture"
	"glassbox/engine/openai/wire"
	"glassbox/engine/sample"
	"glassbox/engine/stops"
	"glassbox/trace"
)

// RequestError is an answer of 400 or above in OpenAI's form. Param and Code are null on the wire where they are "".
type RequestError struct {
	Status  int
	Type    string
	Message string
	Param   string
	Code    string
}

func (e *RequestError) Error() string { return e.Message }

// body returns the error's JSON form; all four keys are always there.
func (e *RequestError) body() wire.ErrorBody {
	null := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	return wire.ErrorBody{Error: wire.Error{Message: e.Message, Type: e.Type, Param: null(e.Param), Code: null(e.Code)}}
}

const invalidRequest = "invalid_request_error"

// invalid is a 400 for a parameter with a wrong value.
func invalid(param, format string, args ...any) *RequestError {
	return &RequestError{http.StatusBadRequest, invalidRequest, fmt.Sprintf(format, args...), param, "invalid_value"}
}

// unsupported is a 400 for what the API has and this server does not; code is unsupported_parameter or unsupported_value.
func unsupported(code, param, format string, args ...any) *RequestError {
	return &RequestError{http.StatusBadRequest, invalidRequest, fmt.Sprintf(format, args...), param, code}
}

// errGone is the end of a request whose client is not there any more: nothing is answered.
var errGone = errors.New("the client has gone")

// explain turns any error into what the client is told.
func explain(err error) *RequestError {
	var re *RequestError
	var ctxErr *engine.ContextError
	var tokErr *engine.TokenError
	var parErr *sample.ParamError
	var field *wire.FieldError
	var size *capture.SizeError
	var part *capture.AblateError
	var place *stops.PointError
	var busy *stops.BusyError
	var cut *engine.ShardError
	switch {
	case errors.As(err, &re):
		return re
	case errors.As(err, &cut):
		return &RequestError{http.StatusBadRequest, invalidRequest, cut.Error(), cut.Field, "unsupported_value"}
	case errors.As(err, &ctxErr):
		if ctxErr.Prompt == 0 {
			return invalid("prompt", "the prompt has no tokens: wanted at least one")
		}
		return &RequestError{http.StatusBadRequest, invalidRequest, ctxErr.Error(), "", "context_length_exceeded"}
	case errors.As(err, &tokErr):
		return invalid("prompt", "%s", tokErr.Error())
	case errors.As(err, &parErr):
		return invalid(parErr.Param, "%s", parErr.Error())
	case errors.As(err, &size):
		return invalid("glassbox.capture", "glassbox.%s", size.Error())
	case errors.As(err, &part):
		return invalid("glassbox.ablate", "glassbox.%s", part.Error())
	case errors.As(err, &place):
		return invalid("glassbox.stop", "glassbox.%s", place.Error())
	case errors.As(err, &busy):
		return &RequestError{http.StatusConflict, invalidRequest, "glassbox." + busy.Error(), "glassbox.stop", "stop_busy"}
	case errors.As(err, &field):
		return &RequestError{http.StatusBadRequest, invalidRequest, field.Error(), field.Param, "invalid_type"}
	case errors.Is(err, engine.ErrQueueFull):
		return &RequestError{http.StatusTooManyRequests, "rate_limit_error", "the queue is full: try again in a moment", "", "queue_full"}
	case errors.Is(err, engine.ErrCapturesFull):
		return &RequestError{http.StatusTooManyRequests, "rate_limit_error", err.Error(), "glassbox.capture", "captures_full"}
	case errors.Is(err, trace.ErrBusy):
		return &RequestError{http.StatusTooManyRequests, "rate_limit_error", err.Error(), "", "recordings_busy"}
	case errors.Is(err, engine.ErrClosed), errors.Is(err, errShutdown):
		return &RequestError{http.StatusServiceUnavailable, "server_error", "the server is shutting down", "", "shutting_down"}
	case errors.Is(err, engine.ErrDeadline):
		return &RequestError{http.StatusGatewayTimeout, "server_error", err.Error(), "glassbox.within_ms", "deadline_exceeded"}
	case errors.Is(err, context.DeadlineExceeded):
		return &RequestError{http.StatusServiceUnavailable, "server_error", "the request took longer than the server allows", "", "timeout"}
	}
	return &RequestError{http.StatusInternalServerError, "server_error", err.Error(), "", "internal_error"}
}

// decodeError explains what encoding/json found wrong with a body.
func decodeError(err error, body []byte) error {
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case len(body) == 0:
		return &RequestError{http.StatusBadRequest, invalidRequest, "the request has no body: wanted a JSON object", "", "invalid_json"}
	case errors.As(err, &syntax):
		return &RequestError{http.StatusBadRequest, invalidRequest,
			fmt.Sprintf("the body is not valid JSON: at byte %d of %d: %v", syntax.Offset, len(body), syntax), "", "invalid_json"}
	case errors.As(err, &typ) && typ.Field == "":
		return &RequestError{http.StatusBadRequest, invalidRequest, fmt.Sprintf("the body: wanted a JSON object, found a JSON %s", typ.Value), "", "invalid_type"}
	case errors.As(err, &typ):
		param, where := fieldName(typ.Field), ""
		if typ.Offset > 0 { // a type that reads itself does not know it
			where = fmt.Sprintf(" (before byte %d)", typ.Offset)
		}
		return &RequestError{http.StatusBadRequest, invalidRequest,
			fmt.Sprintf("%s: wanted %s, found %s%s", param, typeName(typ.Type.Kind().String()), typ.Value, where), param, "invalid_type"}
	}
	return err
}

// typeName says a Go kind in JSON's words.
func typeName(kind string) string {
	switch kind {
	case "int":
		return "an integer"
	case "float64":
		return "a number"
	case "string":
		return "a string"
	case "bool":
		return "true or false"
	case "slice":
		return "a list"
	}
	return "an object"
}
