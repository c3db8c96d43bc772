package definition

import (
	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"holdpoint/operation/interrupt"
)

// interruptFunctions let files read the interrupts of a LangGraph graph and write what it
// goes on with: interrupt.answers(list) drafts one answer for each action that is asked
// for, interrupt.resume(list, answers) gives the value to resume with, by interrupt. What
// does not fit is an error, so that a draft names its part and nothing is sent.
var interruptFunctions = []cel.EnvOption{
	cel.Function("interrupt.answers", cel.Overload("interrupt_answers", []*cel.Type{cel.DynType}, cel.DynType,
		cel.UnaryBinding(func(list ref.Val) ref.Val {
			requests, err := readInterrupts(list)
			if err != nil {
				return types.WrapErr(err)
			}
			return asValue(interrupt.Answers(requests))
		}))),
	cel.Function("interrupt.resume", cel.Overload("interrupt_resume", []*cel.Type{cel.DynType, cel.DynType}, cel.DynType,
		cel.BinaryBinding(func(list, answers ref.Val) ref.Val {
			requests, err := readInterrupts(list)
			if err != nil {
				return types.WrapErr(err)
			}
			given, err := native(answers)
			if err != nil {
				return types.WrapErr(err)
			}
			values, err := interrupt.Resume(requests, given)
			if err != nil {
				return types.WrapErr(err)
			}
			return asValue(values)
		}))),
}

func readInterrupts(list ref.Val) ([]interrupt.Request, error) {
	v, err := native(list)
	if err != nil {
		return nil, err
	}
	return interrupt.Read(v)
}

func asValue(v any) ref.Val { return types.DefaultTypeAdapter.NativeToValue(plain(v)) }
