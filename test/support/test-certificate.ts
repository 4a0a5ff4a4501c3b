// A certificate that nobody trusts unless told to, for localhost and 127.0.0.1, good for a hundred years. Made with:
// openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500 -subj "/CN=parley test"
//   -addext "subjectAltName=DNS:localhost,IP:127.0.0.1"

export const testCertificate = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgCz/OtJ53r8lgzpSp
iyR9ioreu4Z+aaHe2WQPKpCF+sWhRANCAARlgAcD+z/IS/8bjNNLvKhvoZGbVVad
mk43FUdl7yAtE8lJqhx8Nzgi2eMmlIsutaSFJWRgSlnM1llEY3KHWtfB
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBnzCCAUWgAwIBAgIUPsnmP7mGHUl2R0MAhZoCs/XkRVgwCgYIKoZIzj0EAwIw
FjEUMBIGA1UEAwwLcGFybGV5IHRlc3QwIBcNMjYxMTIxMTExNTM5WhgPMjEyNjEw
MjgxMTE1MzlaMBYxFDASBgNVBAMMC3BhcmxleSB0ZXN0MFkwEwYHKoZIzj0CAQYI
KoZIzj0DAQcDQgAEZYAHA/s/yEv/G4zTS7yob6GRm1VWnZpONxVHZe8gLRPJSaoc
fDc4ItnjJpSLLrWkhSVkYEpZzNZZRGNyh1rXwaNvMG0wHQYDVR0OBBYEFJUlvpOB
tEarq+57WCJz4fL/WwboMB8GA1UdIwQYMBaAFJUlvpOBtEarq+57WCJz4fL/Wwbo
MA8GA1UdEwEB/wQFMAMBAf8wGgYDVR0RBBMwEYIJbG9jYWxob3N0hwR/AAABMAoG
CCqGSM49BAMCA0gAMEUCIQDcFXTmKKyDYRXlrZS3TUsVLSfJu7Wt6QAlwce2sACn
ygIgXh9tNiug/88S+LdCZZ9B8kr7Hoya/YgJqsU3exGl77E=
-----END CERTIFICATE-----`,
};
