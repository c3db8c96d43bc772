package main

import (
	"cmp"
	"net"
	"os"
	"path/filepath"
	"strings"
)

// addressFile is the file in the data folder with the address that serve last had: the
// links that other commands print lead there.
const addressFile = "address"

// keepAddress writes the address of this server for the other commands.
func (s *Settings) keepAddress(url string) error {
	return os.WriteFile(filepath.Join(s.Data, addressFile), []byte(url+"\n"), 0o600)
}

// publicURL is where people open Holdpoint: as it is set, else as serve last served
// from this data folder, else as serve would with this environment.
func (s *Settings) publicURL() string {
	url := s.PublicURL
	if raw, err := os.ReadFile(filepath.Join(s.Data, addressFile)); url == "" && err == nil {
		url = strings.TrimSpace(string(raw))
	}
	if url == "" {
		scheme := "http"
		if os.Getenv("HOLDPOINT_TLS_CERT") != "" {
			scheme = "https"
		}
		url = listenURL(scheme, cmp.Or(os.Getenv("HOLDPOINT_ADDR"), defaultAddr))
	}
	return strings.TrimSuffix(url, "/")
}

// listenURL is the address of a listener as a browser on this machine opens it.
func listenURL(scheme, addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return scheme + "://" + addr
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}
