package store

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"

	"holdpoint/operation"
)

// Keys for one purpose each are derived from the installation's key file, so that none
// of them says anything about the others. A copy of the database alone opens no seed.
const (
	purposeSeed     = "holdpoint/totp-seed/1"
	purposeRecovery = "holdpoint/recovery-code/1"
)

// derive gives 32 bytes for one purpose.
func (s *Store) derive(purpose string) []byte {
	key, err := hkdf.Key(sha256.New, s.secret, nil, purpose, 32)
	if err != nil {
		panic(err) // the length is constant
	}
	return key
}

func (s *Store) seedCipher() (cipher.AEAD, error) {
	block, err := aes.NewCipher(s.derive(purposeSeed))
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// seal encrypts a seed for one person: moved to another person's row, it does not open.
func (s *Store) seal(id operation.UserID, seed []byte) ([]byte, error) {
	c, err := s.seedCipher()
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, c.NonceSize())
	_, _ = rand.Read(nonce)
	return c.Seal(nonce, nonce, seed, []byte(id)), nil
}

// unseal decrypts what seal made. The error says nothing of the seed.
func (s *Store) unseal(id operation.UserID, sealed []byte) ([]byte, error) {
	c, err := s.seedCipher()
	if err != nil {
		return nil, err
	}
	if len(sealed) < c.NonceSize() {
		return nil, errors.New("sealed seed is too short")
	}
	seed, err := c.Open(nil, sealed[:c.NonceSize()], sealed[c.NonceSize():], []byte(id))
	if err != nil {
		return nil, fmt.Errorf("the seed of %s does not open with this key file", id)
	}
	return seed, nil
}

// recoveryHash is what is kept of a recovery code.
func (s *Store) recoveryHash(id operation.UserID, code string) []byte {
	m := hmac.New(sha256.New, s.derive(purposeRecovery))
	m.Write([]byte(string(id) + "\x00" + code))
	return m.Sum(nil)
}
