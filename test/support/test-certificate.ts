// A certificate that nobody trusts unless told to, for localhost, api.example and 127.0.0.1, good for a hundred years. Made with:
// openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500 -subj "/CN=parley test"
//   -addext "subjectAltName=DNS:localhost,DNS:api.example,IP:127.0.0.1"

export const testCertificate = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgcmGp1hG4L/ORYY7S
nvqADVTsqXWodVpY5cTcFMjZTbqhRANCAATCnC+kt2xsYGVa2NcCGrQFxr1WFduu
/+ooEO5XK3x7z+tY0gHfcec25iuoSut4WGMqOig0RIIQ8gr8+ZK86HlF
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBrDCCAVKgAwIBAgIUYTS2x7wPat6HlHtHNorKs1EHiFswCgYIKoZIzj0EAwIw
FjEUMBIGA1UEAwwLcGFybGV5IHRlc3QwIBcNMjYxMTI4MDkzODA2WhgPMjEyNjEx
MDQwOTM4MDZaMBYxFDASBgNVBAMMC3BhcmxleSB0ZXN0MFkwEwYHKoZIzj0CAQYI
KoZIzj0DAQcDQgAEwpwvpLdsbGBlWtjXAhq0Bca9VhXbrv/qKBDuVyt8e8/rWNIB
33HnNuYrqErreFhjKjooNESCEPIK/PmSvOh5RaN8MHowHQYDVR0OBBYEFCiM5AiE
9n8HREw1LikjeGabbTPhMB8GA1UdIwQYMBaAFCiM5AiE9n8HREw1LikjeGabbTPh
MA8GA1UdEwEB/wQFMAMBAf8wJwYDVR0RBCAwHoIJbG9jYWxob3N0ggthcGkuZXhh
bXBsZYcEfwAAATAKBggqhkjOPQQDAgNIADBFAiAByi0+BkTM0l0whCgFUnVpE/q/
Q3JbWoXgN2WrGphyWAIhANjQeSr3tC05HDu/O3BpI59k4drLBxcs/EB8KVwjs1zU
-----END CERTIFICATE-----`,
};
