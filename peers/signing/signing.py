"""Verifies and signs manifests with joserfc: `signing.py verify MANIFEST KEYS`, `signing.py sign ALG MANIFEST KEYS`.
`sign` makes a key, adds its signature to the manifest in place, and writes the public key to KEYS."""

import json
import sys

from joserfc import jws
from joserfc.jwk import ECKey, KeySet, OKPKey
from joserfc.util import urlsafe_b64encode

ALGORITHMS = ["ES256", "EdDSA", "Ed25519"]


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def write(path, value):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file)


def payload_of(manifest):
    """RFC 8785, for documents whose names are ASCII and that hold no numbers, as manifests are."""
    document = {name: value for name, value in manifest.items() if name != "signatures"}
    return json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def verify(manifest, keys):
    manifest, keys = read(manifest), KeySet.import_key_set(read(keys))
    payload = urlsafe_b64encode(payload_of(manifest)).decode()
    for signature in manifest["signatures"]:
        value = {"protected": signature["protected"], "signature": signature["signature"], "payload": payload}
        found = jws.deserialize_json(value, keys, algorithms=ALGORITHMS)
        print("verified", found.headers()["alg"], found.headers()["kid"])


def sign(alg, manifest, keys):
    key = ECKey.generate_key("P-256") if alg == "ES256" else OKPKey.generate_key("Ed25519")
    kid, document = key.thumbprint(), read(manifest)
    member = {"protected": {"alg": alg, "typ": "JOSE", "kid": kid}}
    signed = jws.serialize_json(member, payload_of(document), key, algorithms=ALGORITHMS)
    document["signatures"] = [{"protected": signed["protected"], "signature": signed["signature"]}]
    write(manifest, document)
    write(keys, {"keys": [{**key.as_dict(private=False), "kid": kid, "use": "sig"}]})


if __name__ == "__main__":
    {"verify": verify, "sign": sign}[sys.argv[1]](*sys.argv[2:])
