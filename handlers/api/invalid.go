package api

import (
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// invalid says how a request departs from the contract, without repeating what it held.
func invalid(err error) error {
	var re *openapi3filter.RequestError
	if !errors.As(err, &re) {
		return badRequest("invalid", "The request does not fit the API's description.")
	}
	where, why := "the body", re.Reason
	if re.Parameter != nil {
		where = re.Parameter.In + " parameter " + re.Parameter.Name
	}
	var schema *openapi3.SchemaError
	if errors.As(re.Err, &schema) {
		var at []string
		if at, why = departure(schema); len(at) > 0 {
			where += " at /" + strings.Join(at, "/")
		}
	} else if re.Err != nil && re.Parameter != nil {
		why = re.Err.Error()
	}
	status := http.StatusBadRequest
	if strings.Contains(re.Reason, "Content-Type") {
		status = http.StatusUnsupportedMediaType
	}
	return &fault{status: status, code: "invalid", detail: "In " + where + ": " + why + "."}
}

// departure gives the place of the first fault and says it in plain words.
func departure(e *openapi3.SchemaError) (at []string, why string) {
	at, why = e.JSONPointer(), e.Reason
	var v *jsonschema.ValidationError
	if !errors.As(e, &v) {
		return at, why
	}
	for len(v.Causes) > 0 {
		v = v.Causes[0]
	}
	at = v.InstanceLocation
	switch k := v.ErrorKind.(type) {
	case *kind.Required:
		return append(at, k.Missing[0]), "this field is missing"
	case *kind.AdditionalProperties:
		return at, "there is a field that the API does not know"
	case *kind.Type:
		return at, "the value must be of type " + strings.Join(k.Want, " or ")
	case *kind.Minimum:
		return at, "the number must be at least " + decimal(k.Want)
	case *kind.Maximum:
		return at, "the number must be at most " + decimal(k.Want)
	case *kind.MinLength:
		return at, fmt.Sprintf("the text needs at least %d characters", k.Want)
	case *kind.MaxLength:
		return at, fmt.Sprintf("the text has more than %d characters", k.Want)
	case *kind.Pattern, *kind.Format:
		return at, "the text does not have the form that the API describes"
	case *kind.Enum, *kind.Const:
		return at, "the value is not one of those that the API names"
	}
	return at, "the value does not fit the API's description"
}

func decimal(n *big.Rat) string { return strings.TrimSuffix(n.FloatString(3), ".000") }
