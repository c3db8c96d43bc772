package signature_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"holdpoint/operation/signature"
)

var snsAt = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

func certificate(t *testing.T, from, to time.Time) (*rsa.PrivateKey, string) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "sns.amazonaws.com"}, NotBefore: from, NotAfter: to}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return key, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// snsOrder is Amazon's order of what is signed.
var snsOrder = map[string][]string{
	"Notification":             {"Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"},
	"SubscriptionConfirmation": {"Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"},
}

func snsSign(t *testing.T, key *rsa.PrivateKey, version string, m map[string]string) []byte {
	t.Helper()
	var text string
	for _, name := range snsOrder[m["Type"]] {
		if v, there := m[name]; there {
			text += name + "\n" + v + "\n"
		}
	}
	hash, sum := crypto.SHA256, sha256.New()
	if version == "1" {
		hash, sum = crypto.SHA1, sha1.New()
	}
	sum.Write([]byte(text))
	sig, err := rsa.SignPKCS1v15(rand.Reader, key, hash, sum.Sum(nil))
	if err != nil {
		t.Fatal(err)
	}
	m["SignatureVersion"], m["Signature"] = version, base64.StdEncoding.EncodeToString(sig)
	body, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func notification() map[string]string {
	return map[string]string{"Type": "Notification", "MessageId": "22b80b92", "TopicArn": "arn:aws:sns:eu-west-1:123456789012:ses", "Message": `{"eventType":"Delivery"}`,
		"Timestamp": "2026-11-01T12:00:00.000Z", "SigningCertURL": "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0000.pem"}
}

func TestSNS(t *testing.T) {
	t.Parallel()
	key, cert := certificate(t, snsAt.Add(-time.Hour), snsAt.Add(time.Hour))
	other, _ := certificate(t, snsAt.Add(-time.Hour), snsAt.Add(time.Hour))
	rule := signature.Rule{Scheme: signature.SNS, Tolerance: time.Hour}
	verify := func(body []byte, cert string) error {
		_, err := signature.Verify(rule, []string{cert}, signature.Message{Bodies: [][]byte{body}}, snsAt)
		return err
	}
	for _, version := range []string{"1", "2"} {
		with := notification()
		with["Subject"] = "Amazon SES"
		confirm := notification()
		confirm["Type"], confirm["Token"], confirm["SubscribeURL"] = "SubscriptionConfirmation", "2336", "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=2336"
		for i, m := range []map[string]string{notification(), with, confirm} {
			body := snsSign(t, key, version, m)
			if err := verify(body, cert); err != nil {
				t.Errorf("version %s, message %d: %v", version, i, err)
			}
			for _, name := range []string{"Message", "MessageId", "TopicArn", "Timestamp"} {
				changed := strings.Replace(string(body), m[name][:4], "2026", 1)
				if name == "Timestamp" {
					changed = strings.Replace(string(body), "T12:00:00", "T12:00:01", 1)
				}
				if name == "Message" {
					changed = strings.Replace(string(body), "Delivery", "Bounce", 1)
				}
				if changed != string(body) && verify([]byte(changed), cert) == nil {
					t.Errorf("version %s, message %d: %s changed and accepted", version, i, name)
				}
			}
			if err := verify(snsSign(t, other, version, m), cert); codeOf(err) != signature.CodeWrong {
				t.Errorf("signed by another key: %v", err)
			}
		}
	}
	if err := verify(snsSign(t, key, "2", notification()), strings.Replace(cert, "CERTIFICATE", "PUBLIC KEY", 2)); codeOf(err) != signature.CodeSecret {
		t.Error(err)
	}
	_, old := certificate(t, snsAt.Add(-2*time.Hour), snsAt.Add(-time.Hour))
	if err := verify(snsSign(t, key, "2", notification()), old); codeOf(err) != signature.CodeWrong {
		t.Error("an expired certificate is used:", err)
	}
	three := snsSign(t, key, "2", notification())
	if err := verify([]byte(strings.Replace(string(three), `"SignatureVersion":"2"`, `"SignatureVersion":"3"`, 1)), cert); codeOf(err) != signature.CodeMissing {
		t.Error(err)
	}
}

func TestSNSCertificatesComeFromAmazonOnly(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0.pem":   true,
		"https://sns.cn-north-1.amazonaws.com.cn/x.pem":                         true,
		"http://sns.eu-west-1.amazonaws.com/x.pem":                              false,
		"https://sns.eu-west-1.amazonaws.com.evil.test/x.pem":                   false,
		"https://evil.test/sns.eu-west-1.amazonaws.com/x.pem":                   false,
		"https://sns.eu-west-1.amazonaws.com@evil.test/x.pem":                   false,
		"https://evil.test#sns.eu-west-1.amazonaws.com/x.pem":                   false,
		"https://sns.eu-west-1.amazonaws.com:8443/x.pem":                        false,
		"https://sns.s3.eu-west-1.amazonaws.com/x.pem":                          false,
		"https://sns.eu-west-1.amazonaws.com/x.txt":                             false,
		"https://bucket.s3.amazonaws.com/x.pem":                                 false,
		"https://sns.eu-west-1.amazonaws.com\\@evil.test/x.pem":                 false,
		"https://SNS.eu-west-1.amazonaws.com/x.pem":                             false,
		"https:sns.eu-west-1.amazonaws.com/x.pem":                               false,
		"https://sns.eu-west-1.amazonaws.com/x?y=.pem":                          false,
		"https://sns.eu-west-1.amazonaws.com/../x.pem/../../evil?Action=Y#.pem": false,
	} {
		body, _ := json.Marshal(map[string]string{"SigningCertURL": address})
		m, err := signature.ParseSNS(body)
		if err != nil || (m.CertURL != "") != want {
			t.Errorf("%s: %q %v", address, m.CertURL, err)
		}
	}
}
