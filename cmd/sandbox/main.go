// Command sandbox plays the destinations of a hold point: a CRM, a billing
// system, a mail service, a service without any protection and an SMTP sink.
// Each misbehaves on command and keeps a ledger of the effects that really
// exist, so that a test or a newcomer can count them.
//
// It is a separate program on purpose: it may import the standard library
// only, never a package of the product. What it says about the number of
// effects must not depend on the code it judges.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(0)
	case err != nil:
		fmt.Fprintln(os.Stderr, "sandbox:", err)
		os.Exit(1)
	}
}

// run starts the sandbox, announces its addresses as one line of JSON on
// stdout, and serves until ctx ends.
func run(ctx context.Context, args []string, env func(string) string, stdout, stderr io.Writer) error {
	cfg, err := parseConfig(args, env, stderr)
	if err != nil {
		return err
	}
	cfg.log = slog.New(slog.NewJSONHandler(stderr, nil))
	sb, err := start(cfg)
	if err != nil {
		return err
	}
	line := struct {
		Addr string `json:"addr"`
		SMTP string `json:"smtp,omitempty"`
	}{sb.addr(), sb.smtpAddr()}
	if err := json.NewEncoder(stdout).Encode(line); err != nil {
		sb.stop()
		return fmt.Errorf("announce the addresses: %w", err)
	}
	select {
	case <-ctx.Done():
		sb.stop()
		return nil
	case err := <-sb.failed:
		sb.stop()
		return err
	}
}

// config is what the flags and the environment decide.
type config struct {
	addr          string // HTTP, host:port; port 0 picks a free one
	smtpAddr      string // SMTP, host:port; empty = no SMTP sink
	smtpTLS       bool   // offer STARTTLS with a certificate made at start
	smtpAuth      bool   // ask for AUTH PLAIN before MAIL
	callbackURL   string // where delivery callbacks of /mail go; empty = nowhere
	callbackToken string // bearer token of these callbacks
	idTag         string // part of every generated ID; empty = from the start time
	log           *slog.Logger
}

func parseConfig(args []string, env func(string) string, stderr io.Writer) (config, error) {
	or := func(name, fallback string) string {
		if v := env(name); v != "" {
			return v
		}
		return fallback
	}
	var cfg config
	fs := flag.NewFlagSet("sandbox", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&cfg.addr, "addr", or("SANDBOX_ADDR", "127.0.0.1:7400"), "HTTP address (SANDBOX_ADDR)")
	fs.StringVar(&cfg.smtpAddr, "smtp-addr", or("SANDBOX_SMTP_ADDR", "127.0.0.1:7425"), `SMTP address, "" = no SMTP sink (SANDBOX_SMTP_ADDR)`)
	fs.BoolVar(&cfg.smtpTLS, "smtp-starttls", false, "offer STARTTLS with a self-signed certificate")
	fs.BoolVar(&cfg.smtpAuth, "smtp-auth", false, "ask for AUTH PLAIN; any non-empty name and password will do")
	fs.StringVar(&cfg.callbackURL, "callback-url", env("SANDBOX_CALLBACK_URL"), "where delivery callbacks of /mail are posted (SANDBOX_CALLBACK_URL)")
	fs.StringVar(&cfg.callbackToken, "callback-token", env("SANDBOX_CALLBACK_TOKEN"), "bearer token of the callbacks (SANDBOX_CALLBACK_TOKEN)")
	if err := fs.Parse(args); err != nil {
		return config{}, err
	}
	if fs.NArg() > 0 {
		return config{}, fmt.Errorf("unexpected argument %q; run with -h to see the flags", fs.Arg(0))
	}
	return cfg, nil
}
