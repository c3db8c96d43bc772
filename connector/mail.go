package connector

import (
	"context"

	"holdpoint/connector/httpapi"
	"holdpoint/connector/smtp"
	"holdpoint/operation"
	"holdpoint/operation/definition"
)

// mailServer puts a profile's rules behind the SMTP conversation. The conversation
// decides what is proven; a rule may only be stricter about the final 250.
type mailServer struct {
	*smtp.Connector
	profile *definition.Profile
	env     Env
}

// Act hands the mail over at most once.
func (m mailServer) Act(ctx context.Context, o Order) operation.Result {
	action, err := m.profile.Action(o.Action)
	if err != nil {
		return operation.Result{
			Outcome: operation.OutcomeNotStarted, Permanent: true,
			Proof: operation.Proof{Code: httpapi.CodeNoAction, Phase: operation.PhaseBlocked, Detail: err.Error()},
		}
	}
	r := m.Connector.Act(ctx, o)
	if r.Outcome != operation.OutcomeConfirmed {
		return r
	}
	judged := action.Classify(definition.Context{
		Content: o.Content, Key: o.Key, OperationID: string(o.Operation), DispatchedAt: o.DispatchedAt, Env: m.env,
	}, definition.Answer{Status: r.Proof.Status, Body: []byte(r.Proof.Excerpt)})
	if judged.Outcome != operation.OutcomeConfirmed {
		r.Outcome, r.TargetReference = operation.OutcomeUnknown, ""
		r.Proof.Code, r.Proof.Detail = judged.Proof.Code, judged.Proof.Detail
		return r
	}
	r.TargetURL = judged.TargetURL
	return r
}
