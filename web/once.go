package web

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"

	"github.com/labstack/echo/v4"
)

// onceShown is a secret on its way to the one page that shows it.
type onceShown struct {
	Page   string // path of the page
	Form   string // unique key of the form that made it
	Secret string
}

// ShowOnce keeps a secret that a form has made, such as a new link, for the page that
// shows it by TakeOnce. In the database it lies sealed with the cookie's token, which is
// not there.
func ShowOnce(c echo.Context, page, form, secret string) error {
	return VisitOf(c).seal(c, onceShown{Page: page, Form: form, Secret: secret})
}

func (v *Visit) seal(c echo.Context, x onceShown) error {
	raw, err := json.Marshal(x)
	if err != nil {
		return err
	}
	gcm, err := onceSeal(v.session.ID)
	if err != nil {
		return err
	}
	nonce := make([]byte, gcm.NonceSize())
	_, _ = rand.Read(nonce)
	v.session.Values[valueOnce] = base64.RawStdEncoding.EncodeToString(gcm.Seal(nonce, nonce, raw, nil))
	return v.save(c)
}

// TakeOnce gives the secret that waits for this page, and forgets it; "" = none. The page
// is sent unpacked then.
func TakeOnce(c echo.Context) (string, error) {
	v := VisitOf(c)
	x, ok := v.peekOnce()
	if !ok || x.Page != c.Request().URL.Path || isLive(c.Request()) {
		return "", nil
	}
	Unpacked(c)
	delete(v.session.Values, valueOnce)
	return x.Secret, v.save(c)
}

// OnceOf gives the page for which this form has made a secret already: it was sent twice.
// "" = it was not.
func OnceOf(c echo.Context, form string) string {
	x, ok := VisitOf(c).peekOnce()
	if !ok || form == "" || x.Form != form {
		return ""
	}
	return x.Page
}

func (v *Visit) peekOnce() (x onceShown, ok bool) {
	sealed, _ := v.session.Values[valueOnce].(string)
	raw, err := base64.RawStdEncoding.DecodeString(sealed)
	if err != nil || sealed == "" {
		return x, false
	}
	gcm, err := onceSeal(v.session.ID)
	if err != nil || len(raw) < gcm.NonceSize() {
		return x, false
	}
	n := gcm.NonceSize()
	open, err := gcm.Open(nil, raw[:n], raw[n:], nil)
	if err != nil {
		return x, false
	}
	return x, json.Unmarshal(open, &x) == nil
}

func onceSeal(token string) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, []byte(token), nil, "holdpoint/once/1", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
