package main

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"
)

// Settings are what all commands share. Each is a flag and an environment variable.
type Settings struct {
	Data         string        `env:"HOLDPOINT_DATA" default:".data" help:"Folder for the key file, the witness and, unless Holdpoint runs as root, the private database." group:"Installation"`
	KeyFile      string        `env:"HOLDPOINT_KEY_FILE" help:"The installation's secret: one line of base64, 32 bytes or more. Default: the file key in the data folder, made on the first start." group:"Installation"`
	PublicURL    string        `env:"HOLDPOINT_PUBLIC_URL" help:"Address that people open. Default: the address that serve listens on." group:"Installation"`
	DatabaseURL  string        `env:"DATABASE_URL" help:"PostgreSQL address of the application role. Without it, serve starts a private PostgreSQL and the other commands use that one while it runs." group:"Database"`
	MigrateURL   string        `env:"HOLDPOINT_MIGRATE_URL" help:"PostgreSQL address of the role that owns the schema, for migrate. Default: DATABASE_URL." group:"Database"`
	DatabasePort int           `env:"HOLDPOINT_DATABASE_PORT" default:"0" help:"Port of the private PostgreSQL on 127.0.0.1; 0 takes a free one." group:"Database"`
	MaxConns     int           `env:"HOLDPOINT_DATABASE_CONNECTIONS" default:"12" help:"Database connections of one process at most. More do not help on few cores." group:"Database"`
	ConfirmAfter time.Duration `env:"HOLDPOINT_CONFIRM_AFTER" default:"10m" help:"How old a sign-in may be for decisions about re-executions and for changes of access; then the person confirms who they are." group:"Installation"`
	Zone         string        `env:"HOLDPOINT_ZONE" default:"UTC" help:"Time zone of the installation, such as Europe/Warsaw: its weeks and months, and so its reviews, begin there. People read times in their own zone." group:"Installation"`
	LogLevel     string        `env:"HOLDPOINT_LOG_LEVEL" enum:",debug,info,warn,error" default:"" help:"debug, info, warn or error. Default: info." group:"Log"`
	LogFormat    string        `env:"HOLDPOINT_LOG_FORMAT" enum:"json,text" default:"json" help:"json or text, on standard error." group:"Log"`
}

// Jobs are the settings of whoever performs effects.
type Jobs struct {
	Effects     int           `env:"HOLDPOINT_EFFECTS" default:"32" help:"Effects at once in this process, over all destinations. Each destination's own limit is in its profile." group:"Jobs"`
	Lookups     int           `env:"HOLDPOINT_LOOKUPS" default:"16" help:"Lookups at once in this process." group:"Jobs"`
	Sweep       time.Duration `env:"HOLDPOINT_SWEEP" default:"1s" help:"How often ended leases and due operations are looked for." group:"Jobs"`
	Poll        time.Duration `env:"HOLDPOINT_POLL" default:"1s" help:"How often the queue is read when no notification comes." group:"Jobs"`
	StopTimeout time.Duration `env:"HOLDPOINT_STOP_TIMEOUT" default:"30s" help:"How long a stopping process lets running requests finish before their outcome counts as unknown." group:"Jobs"`
	Worker      string        `env:"HOLDPOINT_WORKER" help:"Name of this process in history and log. Default: the host's name." group:"Jobs"`
	Notices
	Checkpointing
}

// logger writes one line per event to standard error; level is the default one.
func (s *Settings) logger(level slog.Level) (*slog.Logger, error) {
	if s.LogLevel != "" {
		if err := level.UnmarshalText([]byte(s.LogLevel)); err != nil {
			return nil, err
		}
	}
	o := &slog.HandlerOptions{Level: level}
	var h slog.Handler = slog.NewJSONHandler(os.Stderr, o)
	if s.LogFormat == "text" {
		h = slog.NewTextHandler(os.Stderr, o)
	}
	log := slog.New(h)
	slog.SetDefault(log)
	return log, nil
}

// folder makes the data folder, for its owner alone.
func (s *Settings) folder() error {
	if err := os.MkdirAll(s.Data, 0o700); err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	return nil
}

func (s *Settings) keyPath() string { return cmp.Or(s.KeyFile, filepath.Join(s.Data, "key")) }
