package smtp_test

import (
	"strings"
	"testing"

	"holdpoint/connector/smtp"
)

func TestAddressOfTheMailServer(t *testing.T) {
	t.Parallel()
	for raw, good := range map[string]bool{
		"smtp://mail.example": true, "smtp://mail.example:25/?starttls=off": true, "smtp://u:hush%40@mail.example:587": true, "smtp://u:hush@127.0.0.1:25?starttls=off": true,
		"smtp://u:hush@mail.example?starttls=off": false, "smtp://u:hush@mail.example?starttls=optional": false, "smtp://mail.example?starttls=perhaps": false,
		"https://mail.example": false, "mail.example:25": false, "smtp://": false, "smtp://u:hush@mail.example/path": false, "smtp://u:hush@mail example": false,
	} {
		_, err := smtp.FromURL(raw)
		if (err == nil) != good {
			t.Errorf("%s: %v", raw, err)
		}
		if err != nil && strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: the error shows the password: %v", raw, err)
		}
	}
}
