package sdks

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sesv2/types"
	"github.com/mailgun/mailgun-go/v4"
	"github.com/mrz1836/postmark"
	"github.com/resend/resend-go/v2"
	"github.com/sendgrid/rest"
	"github.com/sendgrid/sendgrid-go"
	sgmail "github.com/sendgrid/sendgrid-go/helpers/mail"

	"holdpoint/operation"
)

func TestResendLikeItsLibrary(t *testing.T) {
	s := serve(t, http.StatusOK, map[string]string{"Content-Type": "application/json"}, `{"id":"49a3999c-0ce1-4ea6-ab68-afcd6dc2e794"}`)
	o := send(t, "resend", "send", content, map[string]string{"RESEND_URL": s.URL})
	o.confirmed(t, "49a3999c-0ce1-4ea6-ab68-afcd6dc2e794")
	ours := s.last(t)
	client := resend.NewClient(secret)
	client.BaseURL, _ = url.Parse(s.URL + "/")
	answer, err := client.Emails.SendWithOptions(context.Background(), &resend.SendEmailRequest{
		From: from, To: []string{to}, Subject: subject, Text: text, Html: html, Tags: []resend.Tag{{Name: "operation_id", Value: o.id}},
	}, &resend.SendEmailOptions{IdempotencyKey: o.key})
	if err != nil || answer.Id != o.result.TargetReference {
		t.Fatal(answer, err)
	}
	sameWay(t, ours, s.last(t), "Authorization", "Idempotency-Key", "Content-Type")
	sameJSON(t, ours.body, s.last(t).body)
}

func TestSendGridLikeItsLibrary(t *testing.T) {
	s := serve(t, http.StatusAccepted, map[string]string{"X-Message-Id": "fhJ0vVI-RxOk3k6lRGIaaQ"}, "")
	o := send(t, "sendgrid", "send", content, map[string]string{"SENDGRID_URL": s.URL})
	o.confirmed(t, "fhJ0vVI-RxOk3k6lRGIaaQ")
	ours := s.last(t)
	m := sgmail.NewV3MailInit(sgmail.NewEmail("Example shop", "shop@example.test"), subject, sgmail.NewEmail("", to),
		sgmail.NewContent("text/plain", text), sgmail.NewContent("text/html", html))
	m.SetCustomArg("operation_id", o.id)
	request := sendgrid.GetRequest(secret, "/v3/mail/send", s.URL)
	request.Method, request.Body = rest.Post, sgmail.GetRequestBody(m)
	if answer, err := sendgrid.MakeRequest(request); err != nil || answer.StatusCode != http.StatusAccepted {
		t.Fatal(answer, err)
	}
	sameWay(t, ours, s.last(t), "Authorization", "Content-Type")
	sameJSON(t, ours.body, s.last(t).body)
}

func TestPostmarkLikeALibrary(t *testing.T) {
	s := serve(t, http.StatusOK, map[string]string{"Content-Type": "application/json"},
		`{"To":"anna@customer.test","SubmittedAt":"2026-11-29T10:00:00Z","MessageID":"0a129aee-e1cd-480d-b08d-4f48548ff48d","ErrorCode":0,"Message":"OK"}`)
	o := send(t, "postmark", "send", content, map[string]string{"POSTMARK_URL": s.URL})
	o.confirmed(t, "0a129aee-e1cd-480d-b08d-4f48548ff48d")
	ours := s.last(t)
	client := postmark.NewClient(secret, "")
	client.BaseURL = s.URL
	answer, err := client.SendEmail(context.Background(), postmark.Email{
		From: from, To: to, Subject: subject, TextBody: text, HTMLBody: html, MessageStream: "outbound", Metadata: map[string]string{"operation_id": o.id},
	})
	if err != nil || answer.MessageID != o.result.TargetReference {
		t.Fatal(answer, err)
	}
	sameWay(t, ours, s.last(t), "X-Postmark-Server-Token", "Accept", "Content-Type")
	sameJSON(t, ours.body, s.last(t).body)
}

func TestMailgunLikeItsLibrary(t *testing.T) {
	s := serve(t, http.StatusOK, map[string]string{"Content-Type": "application/json"}, `{"id":"<20261129.1@mg.example.test>","message":"Queued. Thank you."}`)
	o := send(t, "mailgun", "send", content, map[string]string{"MAILGUN_URL": s.URL + "/v3/mg.example.test", "MAILGUN_USER": "api"})
	o.confirmed(t, "20261129.1@mg.example.test")
	ours := s.last(t)
	mg := mailgun.NewMailgun("mg.example.test", secret)
	mg.SetAPIBase(s.URL + "/v3")
	m := mailgun.NewMessage(from, subject, text, to)
	m.SetHTML(html)
	if err := m.AddTag(o.id); err != nil {
		t.Fatal(err)
	}
	if err := m.AddVariable("operation_id", o.id); err != nil {
		t.Fatal(err)
	}
	if _, _, err := mg.Send(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	sameWay(t, ours, s.last(t), "Authorization")
	theirs := s.last(t)
	if kind := theirs.header.Get("Content-Type"); strings.HasPrefix(kind, "application/x-www-form-urlencoded") {
		values, err := url.ParseQuery(string(theirs.body))
		if err != nil || !reflect.DeepEqual(fields(t, ours), map[string][]string(values)) {
			t.Errorf("ours %q, theirs %q %v", fields(t, ours), values, err)
		}
		return
	}
	if a, b := fields(t, ours), fields(t, theirs); !reflect.DeepEqual(a, b) {
		t.Errorf("ours %q, theirs %q", a, b)
	}
}

// The server that comes with Mailgun's library takes our form, and keeps what we sent.
func TestMailgunsOwnServerTakesOurMail(t *testing.T) {
	s := mailgun.NewMockServer()
	t.Cleanup(s.Stop)
	before := len(s.Events())
	o := send(t, "mailgun", "send", content, map[string]string{"MAILGUN_URL": s.URL() + "/mg.example.test", "MAILGUN_USER": "api"})
	if o.result.Outcome != operation.OutcomeConfirmed {
		t.Fatalf("%s %+v", o.result.Outcome, o.result.Proof)
	}
	all := s.Events()
	if len(all) != before+1 {
		t.Fatalf("%d events, had %d", len(all), before)
	}
	raw, err := json.Marshal(all[len(all)-1])
	if err != nil {
		t.Fatal(err)
	}
	var event struct {
		Event, Recipient string
		Message          struct {
			Headers struct{ From, Subject string }
		}
	}
	if err := json.Unmarshal(raw, &event); err != nil {
		t.Fatal(err)
	}
	if event.Event != "accepted" || event.Recipient != to || event.Message.Headers.From != from || event.Message.Headers.Subject != subject {
		t.Errorf("%s", raw)
	}
}

func TestSESLikeItsLibrary(t *testing.T) {
	s := serve(t, http.StatusOK, map[string]string{"Content-Type": "application/json"}, `{"MessageId":"0100018c-0001-0002-0003-000000000000"}`)
	o := send(t, "ses", "send", content, map[string]string{"SES_URL": s.URL, "AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE"})
	o.confirmed(t, "0100018c-0001-0002-0003-000000000000")
	ours := s.last(t)
	client := sesv2.New(sesv2.Options{
		Region: "eu-central-1", BaseEndpoint: aws.String(s.URL), Credentials: credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", secret, ""),
	})
	utf8 := func(v string) *types.Content {
		return &types.Content{Data: aws.String(v), Charset: aws.String("UTF-8")}
	}
	answer, err := client.SendEmail(context.Background(), &sesv2.SendEmailInput{
		FromEmailAddress: aws.String(from), Destination: &types.Destination{ToAddresses: []string{to}},
		Content: &types.EmailContent{Simple: &types.Message{
			Subject: utf8(subject), Body: &types.Body{Text: utf8(text), Html: utf8(html)},
		}},
		EmailTags: []types.MessageTag{{Name: aws.String("operation_id"), Value: aws.String(o.id)}},
	})
	if err != nil || *answer.MessageId != o.result.TargetReference {
		t.Fatal(answer, err)
	}
	theirs := s.last(t)
	sameWay(t, ours, theirs, "Content-Type")
	sameJSON(t, ours.body, theirs.body)
	scope := regexp.MustCompile(`^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/\d{8}/eu-central-1/ses/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=[0-9a-f]{64}$`)
	a, b := scope.FindStringSubmatch(ours.header.Get("Authorization")), scope.FindStringSubmatch(theirs.header.Get("Authorization"))
	if a == nil || b == nil {
		t.Fatalf("ours %q, theirs %q", ours.header.Get("Authorization"), theirs.header.Get("Authorization"))
	}
	for _, name := range []string{"host", "content-type", "content-length", "x-amz-date"} {
		if !strings.Contains(";"+a[1]+";", ";"+name+";") || !strings.Contains(";"+b[1]+";", ";"+name+";") {
			t.Errorf("%s is not signed: ours %s, theirs %s", name, a[1], b[1])
		}
	}
}

// An error of SES is named in a header, and so its library reads it: what our rules call
// refused is refused there too.
func TestSESErrorsAsItsLibraryReadsThem(t *testing.T) {
	for name, permanent := range map[string]bool{"BadRequestException": true, "MessageRejected": true, "SendingPausedException": true, "TooManyRequestsException": false, "LimitExceededException": false} {
		s := serve(t, http.StatusBadRequest, map[string]string{"Content-Type": "application/json", "X-Amzn-ErrorType": name + ":http://internal.amazon.com/x/"}, `{"message":"no"}`)
		r := send(t, "ses", "send", content, map[string]string{"SES_URL": s.URL, "AWS_REGION": "eu-central-1"}).result
		if r.Outcome != operation.OutcomeNotStarted || r.Permanent != permanent {
			t.Errorf("%s: %s %+v", name, r.Outcome, r.Proof)
		}
		client := sesv2.New(sesv2.Options{Region: "eu-central-1", BaseEndpoint: aws.String(s.URL), RetryMaxAttempts: 1,
			Credentials: credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", secret, "")})
		_, err := client.SendEmail(context.Background(), &sesv2.SendEmailInput{Content: &types.EmailContent{}})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: its library says %v", name, err)
		}
	}
}
