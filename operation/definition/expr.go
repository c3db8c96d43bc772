package definition

import (
	"errors"
	"fmt"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/ext"
)

// costLimit bounds the work of one evaluation, in CEL cost units; a hostile
// expression ends with an error within milliseconds.
const costLimit = 500_000

// listCostLimit bounds the one expression that makes a whole list.
const listCostLimit = 20_000_000

// scope is a place where expressions are evaluated, with the names known there.
type scope string

const (
	scopeFlow    scope = "flow"    // event, inputs
	scopeRequest scope = "request" // content
	scopeLookup  scope = "lookup"  // content, key, operation_id
	scopeAnswer  scope = "answer"  // status, header, body, content, key, operation_id
	scopeMatch   scope = "match"   // as scopeAnswer, and match
	scopePlace   scope = "place"   // env("NAME")
	// the links that people open: as the scope they are named after, and env("NAME")
	scopeLookupLink scope = "lookup link"
	scopeAnswerLink scope = "answer link"
	scopeMatchLink  scope = "match link"
	scopeNotice     scope = "notice" // header, body, item
	scopeNews       scope = "news"   // header, body, item, account, environment
	scopeNewsLink   scope = "news link"
	scopeList       scope = "list" // event, inputs: the list that a stage fans out over
	scopeItem       scope = "item" // event, inputs, item
)

var scopeVariables = map[scope][]cel.EnvOption{
	scopeFlow: {
		cel.Variable("event", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("inputs", cel.MapType(cel.StringType, cel.DynType)),
	},
	scopeList: {
		cel.Variable("event", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("inputs", cel.MapType(cel.StringType, cel.DynType)),
	},
	scopeItem: {
		cel.Variable("event", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("inputs", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("item", cel.MapType(cel.StringType, cel.DynType)),
	},
	scopeRequest: {contentVariable},
	scopeLookup:  {contentVariable, keyVariable, operationVariable},
	scopeAnswer:  append([]cel.EnvOption{contentVariable, keyVariable, operationVariable}, answerVariables...),
	scopeMatch: append([]cel.EnvOption{contentVariable, keyVariable, operationVariable,
		cel.Variable("match", cel.DynType)}, answerVariables...),
	scopePlace:      {envFunction},
	scopeLookupLink: {contentVariable, keyVariable, operationVariable, envFunction},
	scopeAnswerLink: append([]cel.EnvOption{contentVariable, keyVariable, operationVariable, envFunction}, answerVariables...),
	scopeMatchLink: append([]cel.EnvOption{contentVariable, keyVariable, operationVariable, envFunction,
		cel.Variable("match", cel.DynType)}, answerVariables...),
	scopeNews:     newsVariables,
	scopeNewsLink: append([]cel.EnvOption{envFunction}, newsVariables...),
	scopeNotice: {
		cel.Variable("header", cel.MapType(cel.StringType, cel.StringType)),
		cel.Variable("body", cel.DynType),
		cel.Variable("item", cel.DynType),
	},
}

var (
	envFunction = cel.Function("env",
		cel.Overload("env_string", []*cel.Type{cel.StringType}, cel.StringType, cel.LateFunctionBinding()))
	contentVariable   = cel.Variable("content", cel.MapType(cel.StringType, cel.DynType))
	keyVariable       = cel.Variable("key", cel.StringType)
	operationVariable = cel.Variable("operation_id", cel.StringType)
	newsVariables     = []cel.EnvOption{
		cel.Variable("header", cel.MapType(cel.StringType, cel.StringType)),
		cel.Variable("body", cel.DynType),
		cel.Variable("item", cel.DynType),
		cel.Variable("account", cel.StringType),
		cel.Variable("environment", cel.StringType),
	}
	answerVariables = []cel.EnvOption{
		cel.Variable("status", cel.IntType),
		cel.Variable("header", cel.MapType(cel.StringType, cel.StringType)),
		cel.Variable("body", cel.DynType),
	}
)

var (
	baseEnv = sync.OnceValues(func() (*cel.Env, error) {
		return cel.NewEnv(append([]cel.EnvOption{
			cel.OptionalTypes(),
			cel.DefaultUTCTimeZone(true),
			cel.CrossTypeNumericComparisons(true),
			cel.ParserRecursionLimit(60),
			cel.ParserExpressionSizeLimit(8 << 10),
			ext.Strings(), ext.Encoders(), ext.Math(), ext.Sets(),
			cel.ASTValidators(cel.ValidateRegexLiterals(), cel.ValidateDurationLiterals(), cel.ValidateTimestampLiterals()),
		}, interruptFunctions...)...)
	})
	scopeEnvs sync.Map // scope → *cel.Env
)

func envOf(s scope) (*cel.Env, error) {
	if e, ok := scopeEnvs.Load(s); ok {
		return e.(*cel.Env), nil
	}
	base, err := baseEnv()
	if err != nil {
		return nil, err
	}
	e, err := base.Extend(scopeVariables[s]...)
	if err != nil {
		return nil, err
	}
	scopeEnvs.Store(s, e)
	return e, nil
}

// expr is a compiled expression. It is safe for concurrent use.
type expr struct {
	text    string
	program cel.Program
	names   map[string]bool // the variables it reads
	fields  []string        // the paths of the content it reads
	inputs  []string        // the paths of the inputs it reads
	items   []string        // the paths of a list's entry it reads
	boolean bool            // its type is bool, or not known before it is evaluated
}

// compile checks an expression's text (without ${ and }) for a scope.
func compile(s scope, text string) (*expr, error) {
	env, err := envOf(s)
	if err != nil {
		return nil, err
	}
	checked, iss := env.Compile(text)
	if err := iss.Err(); err != nil {
		return nil, fmt.Errorf("the expression ${%s} is not valid: %s", text, firstIssue(iss))
	}
	limit := uint64(costLimit)
	if s == scopeList {
		limit = listCostLimit
	}
	program, err := env.Program(checked, cel.CostLimit(limit), cel.EvalOptions(cel.OptOptimize))
	if err != nil {
		return nil, fmt.Errorf("the expression ${%s} cannot be prepared: %w", text, err)
	}
	out := checked.OutputType()
	e := &expr{text: text, program: program, names: map[string]bool{},
		boolean: out.IsExactType(cel.BoolType) || out.IsExactType(cel.DynType)}
	visitor := ast.NewExprVisitor(func(n ast.Expr) {
		if n.Kind() == ast.IdentKind {
			e.names[n.AsIdent()] = true
		}
	})
	ast.PostOrderVisit(checked.NativeRep().Expr(), visitor)
	if e.names["content"] {
		e.fields = contentFields(checked.NativeRep().Expr())
	}
	if e.names["item"] {
		e.items = pathsOf(checked.NativeRep().Expr(), "item")
	}
	if e.names["inputs"] {
		e.inputs = inputsRead(checked.NativeRep().Expr())
	}
	return e, nil
}

func firstIssue(iss *cel.Issues) string {
	for _, e := range iss.Errors() {
		return e.Message
	}
	return iss.Err().Error()
}

// eval evaluates with variables; a missing value, an error and too much work are all
// errors.
func (e *expr) eval(vars map[string]any) (ref.Val, error) {
	out, _, err := e.program.Eval(vars)
	if err != nil {
		return nil, &exprError{e.fields, fmt.Errorf("${%s}: %w", e.text, err)}
	}
	if types.IsError(out) {
		return nil, &exprError{e.fields, fmt.Errorf("${%s}: %v", e.text, out)}
	}
	return out, nil
}

// value evaluates to a JSON value.
func (e *expr) value(vars map[string]any) (any, error) {
	out, err := e.eval(vars)
	if err != nil {
		return nil, err
	}
	v, err := native(out)
	if err != nil {
		return nil, &exprError{e.fields, fmt.Errorf("${%s}: %w", e.text, err)}
	}
	return v, nil
}

var errNotBool = errors.New("the rule is neither true nor false")

// holds evaluates a rule. Anything but true or false is an error.
func (e *expr) holds(vars map[string]any) (bool, error) {
	out, err := e.eval(vars)
	if err != nil {
		return false, err
	}
	b, ok := out.(types.Bool)
	if !ok {
		return false, fmt.Errorf("${%s}: %w", e.text, errNotBool)
	}
	return bool(b), nil
}

// Env looks up an environment variable for env("NAME") in a profile's places and links. Its
// second result is false when the variable is not set.
type Env = func(name string) (value string, ok bool)

// placeText evaluates a text that may use env("NAME").
func placeText(t template, env Env) (string, error) {
	return placeWith(t, map[string]any{}, env)
}

// placeWith is placeText with variables.
func placeWith(t template, known map[string]any, env Env) (string, error) {
	vars, err := cel.FunctionVars(known, map[string]cel.LateBoundFunction{
		"env": func(_ string, args ...ref.Val) ref.Val {
			name, ok := args[0].(types.String)
			if !ok || env == nil {
				return types.NewErr("env takes a name")
			}
			v, ok := env(string(name))
			if !ok {
				return types.NewErr("environment variable %s is not set", string(name))
			}
			return types.String(v)
		},
	})
	if err != nil {
		return "", err
	}
	return t.place(vars)
}
