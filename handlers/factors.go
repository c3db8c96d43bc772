package handlers

import (
	"bytes"
	"encoding/base64"
	"errors"
	"image/png"
	"net/http"
	"net/url"
	"strings"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
	"github.com/pquerna/otp"
)

// selfs is for what people do about their own second factors: also for those who must
// set one up before anything else.
var selfs = permission{name: "whoever has an account, also before their second factor is set up", roles: operation.Roles, anyRole: true, enrol: true}

// The addresses below the pages of second factors.
const (
	pathTOTP     = views.PathFactors + "/totp"
	pathRecovery = views.PathFactors + "/recovery"
	pathPasskeys = views.PathFactors + "/passkeys"
)

// factorRoutes are the second factors: giving them at the sign-in, and setting them up.
func (s *site) factorRoutes() []route {
	const key = pathPasskeys + "/:id"
	return []route{
		{get, views.PathSignInFactor, anyone, "", s.factorPage},
		{post, views.PathSignInFactor, anyone, "", s.giveFactor},
		{post, views.PathSignInFactor + "/passkey/start", anyone, "", s.startFactor},
		{post, views.PathSignInFactor + "/passkey", anyone, "", s.giveFactorByPasskey},
		{post, views.PathSignIn + "/passkey/start", anyone, "", s.startSignIn},
		{post, views.PathSignIn + "/passkey", anyone, "", s.signInByPasskey},
		{post, views.PathConfirm + "/passkey/start", selfs, views.PathConfirm, s.startConfirm},
		{post, views.PathConfirm + "/passkey", selfs, views.PathConfirm, s.confirmByPasskey},
		{get, views.PathFactors, selfs, "", s.factors},
		{get, pathTOTP, selfs, "", s.totpPage},
		{post, pathTOTP, selfs, pathTOTP, s.startTOTP},
		{post, pathTOTP + "/confirm", selfs, pathTOTP, s.confirmTOTP},
		{post, pathTOTP + "/remove", selfs, views.PathFactors, s.removeTOTP},
		{get, pathRecovery, selfs, "", s.recoveryPage},
		{post, pathRecovery, selfs, views.PathFactors, s.newRecovery},
		{post, pathRecovery + "/file", selfs, views.PathFactors, s.recoveryFile},
		{post, pathPasskeys + "/start", selfs, views.PathFactors, s.startPasskey},
		{post, pathPasskeys, selfs, views.PathFactors, s.addPasskey},
		{post, key + "/rename", selfs, views.PathFactors, s.renamePasskey},
		{post, key + "/remove", selfs, views.PathFactors, s.removePasskey},
	}
}

// factors shows the person's own second factors.
func (s *site) factors(c echo.Context) error { return s.showFactors(c, http.StatusOK, typed{}, "") }

// showFactors shows them with what is wrong with one form; id names the passkey that the
// form is about.
func (s *site) showFactors(c echo.Context, status int, t typed, id string) error {
	v := web.VisitOf(c)
	f, err := s.Store.FindFactors(c.Request().Context(), v.Self().ID)
	if err != nil {
		return err
	}
	m := views.FactorsModel{Must: v.Enrolling != nil, TOTPSince: f.TOTPSince, Recovery: f.Recovery, Any: f.Any(),
		Start: newForm(t.of("totp"), pathTOTP), Remove: newForm(t.of("remove"), pathTOTP+"/remove"), NewCodes: newForm(t.of("recovery"), pathRecovery)}
	if s.hasPasskeys(c) {
		m.Add = &views.PasskeyAsk{Start: pathPasskeys + "/start", Finish: pathPasskeys, MaxName: store.MaxPasskeyName}
	}
	for _, k := range f.Passkeys {
		own := typed{}
		if k.ID == id {
			own = t
		}
		row := views.PasskeyRow{ID: k.ID, Name: own.or("name", k.Name), Created: k.CreatedAt,
			Rename: newForm(own.of("rename"), pathPasskeys+"/"+k.ID+"/rename"), Remove: newForm(own.of("remove"), pathPasskeys+"/"+k.ID+"/remove")}
		if k.UsedAt != nil {
			row.Used = *k.UsedAt
		}
		if k.ClonedAt != nil {
			row.Cloned = *k.ClonedAt
		}
		m.Passkeys = append(m.Passkeys, row)
	}
	m.Frame = web.Frame(c, views.SectionAccount)
	return web.RenderStatus(c, status, views.FactorsPage(m))
}

// startTOTP begins to set an authenticator app up.
func (s *site) startTOTP(c echo.Context) error {
	if _, err := sent(c); err != nil {
		return err
	}
	err := s.Store.StartTOTP(c.Request().Context(), web.VisitOf(c).SelfActor())
	if _, say, ok := invalidOf(err); ok {
		t := typed{form: "totp"}
		t.wrong("", say)
		return s.showFactors(c, http.StatusUnprocessableEntity, t, "")
	}
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, pathTOTP)
}

// totpPage shows the seed that is being set up, as a picture and as text.
func (s *site) totpPage(c echo.Context) error { return s.showTOTP(c, http.StatusOK, typed{}) }

func (s *site) showTOTP(c echo.Context, status int, t typed) error {
	web.Unpacked(c) // it shows the seed
	u := web.VisitOf(c).Self()
	seed, err := s.Store.FindTOTPStart(c.Request().Context(), u.ID)
	if errors.Is(err, store.ErrNotFound) {
		return c.Redirect(http.StatusSeeOther, views.PathFactors)
	}
	if err != nil {
		return err
	}
	qr, err := qrCode(hostOf(c), u.Email, seed)
	if err != nil {
		return err
	}
	m := views.TOTPModel{Form: newForm(t, pathTOTP+"/confirm"), QR: qr, Seed: inFours(seed), Issuer: issuerName(hostOf(c)), Account: u.Email,
		Cancel: newForm(typed{}, pathTOTP+"/remove"), Must: web.VisitOf(c).Enrolling != nil}
	m.Frame = web.Frame(c, views.SectionAccount)
	return web.RenderStatus(c, status, views.TOTPPage(m))
}

func hostOf(c echo.Context) string {
	u, err := url.Parse(web.Address(c, ""))
	if err != nil {
		return ""
	}
	return u.Host
}

// issuerName is what the app shows: two installations are told apart by their addresses.
func issuerName(host string) string { return strings.TrimSpace("Holdpoint " + host) }

// qrCode draws what authenticator apps read, as the address of a picture in the page.
func qrCode(host, email, seed string) (string, error) {
	issuer := issuerName(host)
	label := url.PathEscape(issuer + ":" + email)
	k, err := otp.NewKeyFromURL("otpauth://totp/" + label + "?secret=" + seed + "&issuer=" + url.QueryEscape(issuer) + "&algorithm=SHA1&digits=6&period=30")
	if err != nil {
		return "", errors.New("no code can be drawn from the seed")
	}
	img, err := k.Image(232, 232)
	if err != nil {
		return "", errors.New("no code can be drawn from the seed")
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return "", err
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

// inFours writes a seed so that a person can type it.
func inFours(seed string) string {
	var parts []string
	for i := 0; i < len(seed); i += 4 {
		parts = append(parts, seed[i:min(i+4, len(seed))])
	}
	return strings.Join(parts, " ")
}

// confirmTOTP takes the app into use by a first code from it.
func (s *site) confirmTOTP(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	codes, err := s.Store.ConfirmTOTP(c.Request().Context(), web.VisitOf(c).SelfActor(), t.val("code"), c.RealIP())
	if status, say, ok := codeError(c, err); ok {
		t.wrong("code", say)
		return s.showTOTP(c, status, t)
	}
	if errors.Is(err, store.ErrNotFound) { // it was confirmed by the same press before
		return c.Redirect(http.StatusSeeOther, s.shownOnce(c, t))
	}
	if err != nil {
		return err
	}
	if len(codes) == 0 {
		return done(c, views.PathFactors, views.FlashTOTPAdded)
	}
	return s.showCodes(c, t, codes, views.FlashTOTPAdded)
}

// showCodes leads to the page that shows new recovery codes once.
func (s *site) showCodes(c echo.Context, t typed, codes []string, flash string) error {
	if err := web.NewToken(c); err != nil {
		return err
	}
	if err := web.ShowOnce(c, pathRecovery, t.val("form_id"), strings.Join(codes, "\n")); err != nil {
		return err
	}
	return done(c, pathRecovery, flash)
}

// shownOnce is where a form that was sent twice leads to.
func (s *site) shownOnce(c echo.Context, t typed) string {
	if page := web.OnceOf(c, t.val("form_id")); page != "" {
		return page
	}
	return views.PathFactors
}

// removeTOTP takes the app away, or what was begun of it.
func (s *site) removeTOTP(c echo.Context) error {
	err := s.Store.RemoveTOTP(c.Request().Context(), web.VisitOf(c).SelfActor())
	if err != nil {
		return err
	}
	return done(c, views.PathFactors, views.FlashFactorRemoved)
}

// newRecovery makes new recovery codes.
func (s *site) newRecovery(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	if page := web.OnceOf(c, t.val("form_id")); page != "" {
		return c.Redirect(http.StatusSeeOther, page)
	}
	codes, err := s.Store.NewRecoveryCodes(c.Request().Context(), web.VisitOf(c).SelfActor())
	if _, say, ok := invalidOf(err); ok {
		t.wrong("", say)
		return s.showFactors(c, http.StatusUnprocessableEntity, t, "")
	}
	if err != nil {
		return err
	}
	return s.showCodes(c, t, codes, views.FlashRecoveryMade)
}

// recoveryPage shows new recovery codes, once.
func (s *site) recoveryPage(c echo.Context) error {
	secret, err := web.TakeOnce(c)
	if err != nil {
		return err
	}
	if secret == "" {
		return c.Redirect(http.StatusSeeOther, views.PathFactors)
	}
	m := views.RecoveryModel{Codes: strings.Split(secret, "\n"), File: newForm(typed{}, pathRecovery+"/file")}
	m.Frame = web.Frame(c, views.SectionAccount)
	return web.Render(c, views.RecoveryPage(m))
}

// recoveryFile gives the codes that a page shows as a text file: only those that are the
// person's own and unused.
func (s *site) recoveryFile(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	codes := strings.Fields(t.val("codes"))
	is, err := s.Store.AreRecoveryCodes(c.Request().Context(), web.VisitOf(c).Self().ID, codes)
	if err != nil {
		return err
	}
	if !is {
		return c.Redirect(http.StatusSeeOther, views.PathFactors)
	}
	p := web.VisitOf(c).Printer()
	text := p.T("factors.file.head", "Account", web.VisitOf(c).Self().Email, "Address", web.Address(c, "")) + "\n\n" + strings.Join(codes, "\n") + "\n"
	c.Response().Header().Set(echo.HeaderContentDisposition, `attachment; filename="holdpoint-recovery-codes.txt"`)
	return c.Blob(http.StatusOK, "text/plain; charset=utf-8", []byte(text))
}

// renamePasskey gives one's own passkey another name.
func (s *site) renamePasskey(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	err = s.Store.RenamePasskey(c.Request().Context(), web.VisitOf(c).SelfActor(), c.Param("id"), t.text("name"))
	if field, say, ok := invalidOf(err); ok {
		t.wrong(field, say)
		return s.showFactors(c, http.StatusUnprocessableEntity, t, c.Param("id"))
	}
	if err != nil {
		return err
	}
	return done(c, views.PathFactors, views.FlashPasskeyRenamed)
}

// removePasskey takes one's own passkey away.
func (s *site) removePasskey(c echo.Context) error {
	err := s.Store.RemovePasskey(c.Request().Context(), web.VisitOf(c).SelfActor(), c.Param("id"))
	if err != nil {
		return err
	}
	return done(c, views.PathFactors, views.FlashFactorRemoved)
}
