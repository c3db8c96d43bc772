package main

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// Amazon SES v2: signed requests, 200 with a MessageId. No keys, and a message
// can be asked for by its ID only.

const destSES = "ses"

func sesFailure(status int, message string) answer {
	name := map[int]string{
		http.StatusBadRequest: "BadRequestException", http.StatusUnauthorized: "UnrecognizedClientException", http.StatusForbidden: "AccessDeniedException",
		http.StatusNotFound: "NotFoundException", http.StatusTooManyRequests: "TooManyRequestsException",
	}[status]
	return sesError(status, cmpOr(name, "InternalServiceErrorException"), message)
}

func sesError(status int, name, message string) answer {
	return jsonAnswer(status, map[string]any{"message": message}).with("X-Amzn-ErrorType", name+":http://internal.amazon.com/coral/com.amazonaws.services.simpleemail.v2/")
}

func sesAdmits(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Authorization"), sigV4Algorithm+" ")
}

func (s *sandbox) routeSES(mux *http.ServeMux) {
	mux.HandleFunc("POST /ses/v2/email/outbound-emails", s.endpoint(destSES, onEffect, signedOnly(sendSES)))
	mux.HandleFunc("GET /ses/v2/email/insights/{id}/{$}", s.endpoint(destSES, onLookup, signedOnly(readSES)))
}

// sesSecrets are the secret access keys that sign here: the sandbox's own, and the one of
// the product's conformance suite.
var sesSecrets = []string{"sandbox-secret-access-key", "sk_test_never-to-be-shown-1234"}

// signedOnly lets only requests through whose signature covers what was received.
func signedOnly(handle func(*call) answer) func(*call) answer {
	return func(c *call) answer {
		if why := checkSigV4(c.request, c.body, "ses", sesSecrets, time.Now()); why != "" {
			return sesError(http.StatusForbidden, "SignatureDoesNotMatch", why)
		}
		return handle(c)
	}
}

type sesText struct{ Data, Charset string }

type sesOrder struct {
	FromEmailAddress     string
	ConfigurationSetName string
	ReplyToAddresses     []string
	Destination          struct{ ToAddresses, CcAddresses, BccAddresses []string }
	Content              struct {
		Simple *struct {
			Subject sesText
			Body    struct{ Text, Html *sesText }
			Headers []struct{ Name, Value string }
		}
	}
	EmailTags []struct{ Name, Value string }
}

func sendSES(c *call) answer {
	var o sesOrder
	if err := strictJSON(c.body, &o); err != nil {
		return sesFailure(http.StatusBadRequest, err.Error())
	}
	mailOf := o.Content.Simple
	to := o.Destination.ToAddresses
	switch {
	case !isAddress(o.FromEmailAddress):
		return sesFailure(http.StatusBadRequest, "Missing or invalid FromEmailAddress")
	case len(to) == 0 || len(to) > 50 || slices.ContainsFunc(to, func(s string) bool { return !isAddress(s) }):
		return sesFailure(http.StatusBadRequest, "Missing or invalid destination")
	case mailOf == nil || mailOf.Subject.Data == "" || mailOf.Body.Text == nil && mailOf.Body.Html == nil:
		return sesFailure(http.StatusBadRequest, "Content needs a subject and a body")
	case strings.HasPrefix(o.FromEmailAddress, "unverified@"):
		return sesError(http.StatusBadRequest, "MessageRejected", "Email address is not verified.")
	}
	tags := map[string]string{}
	for _, t := range o.EmailTags {
		if !tagChars.MatchString(t.Name) || !tagChars.MatchString(t.Value) {
			return sesFailure(http.StatusBadRequest, "Tags have ASCII letters, digits, underscores and dashes only.")
		}
		tags[t.Name] = t.Value
	}
	return c.execute(func() answer {
		m := mailTaken{
			id: c.sandbox.ledger.nextID("ses", "-"), reference: tags["operation_id"], from: o.FromEmailAddress, to: to, subject: mailOf.Subject.Data,
			more: map[string]any{"tags": tags, "configuration_set": o.ConfigurationSetName},
		}
		if mailOf.Body.Text != nil {
			m.text = mailOf.Body.Text.Data
		}
		if mailOf.Body.Html != nil {
			m.html = mailOf.Body.Html.Data
		}
		c.takeMail(m)
		return executed(jsonAnswer(http.StatusOK, map[string]any{"MessageId": m.id}))
	})
}

func readSES(c *call) answer {
	e, ok := c.sandbox.ledger.find(destSES, effectEmail, c.request.PathValue("id"))
	if !ok {
		return sesFailure(http.StatusNotFound, "The message does not exist.")
	}
	return jsonAnswer(http.StatusOK, map[string]any{
		"MessageId": e.ID, "FromEmailAddress": e.Fields["from"], "Subject": e.Fields["subject"],
		"Insights": []any{map[string]any{"Destination": e.Fields["to"], "Events": []any{map[string]any{"Type": "SEND", "Timestamp": e.Time.Unix()}}}},
	})
}
